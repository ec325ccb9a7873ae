import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, asApiError, bodyOf, type Schemas } from "../../api/client.ts";
import { useFormat, useNow } from "../../display/format.ts";
import { usePermissions } from "../../session/permissions.ts";
import { useTexts } from "../../texts/texts.ts";
import { ActionMenu } from "../../ui/action-menu.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { AskDialog } from "../../ui/dialog.tsx";
import { useErrorText } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { texts } from "./texts.ts";

export type Artifact = Schemas["Artifact"];

/** What can be downloaded has a deadline, unless it is held. */
export function isHeld({ downloadable, expires_at: expiresAt }: Artifact): boolean {
  return downloadable && expiresAt === null;
}

/** Somebody ended it before its deadline. */
export function isErased({ status, expires_at: expiresAt }: Artifact, now: Date): boolean {
  return status === "expired" && expiresAt !== null && new Date(expiresAt) > now;
}

/** The countdown to its end, or why there is none. */
export function Expiry({ file }: { file: Artifact }) {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  if (isHeld(file)) {
    return (
      <Badge tone="accent" icon="lock">
        {t.held}
      </Badge>
    );
  }
  if (file.expires_at === null || file.status === "unavailable" || isErased(file, now)) return null;
  const at = new Date(file.expires_at);
  const isOver = file.status === "expired" || at <= now;
  return (
    <time
      dateTime={file.expires_at}
      title={format.dateTime(at)}
      className="tabular text-sm whitespace-nowrap"
    >
      <span className={file.status === "expiring" ? "text-wait" : "text-muted"}>
        {isOver ? t.expired(format.ago(at, now)) : t.expires(format.ago(at, now))}
      </span>
    </time>
  );
}

/** The link is good for minutes, so it is asked for at each click and opened at once. */
export function DownloadButton({ file }: { file: Artifact }) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST("/api/storage/objects/{object_id}/download", {
          params: { path: { object_id: file.id } },
          body: { delivery_id: file.delivery_id, ttl_seconds: 60 },
        }),
      ),
    // Its answer is an attachment: the page stays.
    onSuccess: ({ url }) => location.assign(url),
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
  });
  return (
    <Button
      small
      icon="download"
      isBusy={isPending}
      aria-label={t.downloadFile(file.filename)}
      onClick={() => mutate()}
    >
      {t.download}
    </Button>
  );
}

type Asked = "hold" | "release" | "erase";

/** Hold, end the hold, erase: what this session may do with a file that is there. */
export function FileActions({ file }: { file: Artifact }) {
  const t = useTexts(texts);
  const { mayWrite, mayHold } = usePermissions();
  const [asked, setAsked] = useState<Asked | null>(null);
  if (!file.downloadable) return null;
  const held = isHeld(file);
  const actions = [
    ...(mayHold && !held ? [{ icon: "lock", label: t.hold, run: () => setAsked("hold") } as const] : []),
    ...(mayHold && held ? [{ icon: "lock", label: t.release, run: () => setAsked("release") } as const] : []),
    ...(mayWrite && !held
      ? [{ icon: "trash", label: t.erase, isDanger: true, run: () => setAsked("erase") } as const]
      : []),
  ];
  if (actions.length === 0) return null;
  return (
    <>
      <ActionMenu label={t.actions(file.filename)} actions={actions} />
      {asked !== null && <Ask file={file} asked={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

function Ask({ file, asked, onClose }: { file: Artifact; asked: Asked; onClose: () => void }) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  const words = {
    hold: { title: t.holdTitle, about: t.holdAbout, yes: t.hold, done: t.holdDone },
    release: { title: t.releaseTitle, about: t.releaseAbout, yes: t.release, done: t.releaseDone },
    erase: { title: t.eraseTitle, about: t.eraseAbout, yes: t.erase, done: t.eraseDone },
  }[asked];
  const change = useMutation({
    mutationFn: () => request(asked, file.id),
    onSuccess: () => toast({ title: words.done }),
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
    onSettled: onClose,
  });
  return (
    <AskDialog
      isOpen
      onClose={onClose}
      onYes={() => change.mutate()}
      isBusy={change.isPending}
      isDanger={asked === "erase"}
      title={words.title}
      about={words.about}
      yes={words.yes}
    />
  );
}

async function request(asked: Asked, id: string): Promise<void> {
  const options = { params: { path: { object_id: id } } };
  if (asked === "erase") await bodyOf(api.DELETE("/api/storage/objects/{object_id}", options));
  else if (asked === "hold") await bodyOf(api.PUT("/api/storage/objects/{object_id}/hold", options));
  else await bodyOf(api.DELETE("/api/storage/objects/{object_id}/hold", options));
}
