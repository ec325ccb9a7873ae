import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, asApiError, bodyOf, type Endpoint } from "../api/client.ts";
import { usePermissions } from "../session/permissions.ts";
import { useTexts } from "../texts/texts.ts";
import { ActionMenu } from "../ui/action-menu.tsx";
import { AskDialog } from "../ui/dialog.tsx";
import type { Action } from "../ui/menu.tsx";
import { useErrorText } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { hostOf } from "../ui/url-text.tsx";
import { texts } from "./texts.ts";

/** Enable, disable, edit and delete one endpoint. Nothing for a session that may read only. */
export function EndpointActions({
  endpoint,
  onDeleted,
}: {
  endpoint: Endpoint;
  onDeleted?: () => Promise<void>;
}) {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const navigate = useNavigate();
  const [asks, setAsks] = useState<"disable" | "delete" | null>(null);
  const { setEnabled, remove, isBusy } = useEndpointChanges(endpoint, () => setAsks(null), onDeleted);
  const host = hostOf(endpoint.url);
  if (!mayWrite) return null;
  const edit = (): void =>
    void navigate({ to: "/endpoints/$endpointId/edit", params: { endpointId: endpoint.id } });
  const actions: Action[] = [
    { icon: "edit", label: t.edit, run: edit },
    endpoint.enabled
      ? { icon: "pause", label: t.disable, run: () => setAsks("disable") }
      : { icon: "play", label: t.enable, run: () => setEnabled(true) },
    { icon: "trash", label: t.delete, run: () => setAsks("delete"), isDanger: true },
  ];
  return (
    <>
      <ActionMenu label={t.actions(host)} actions={actions} />
      <AskDialog
        isOpen={asks === "disable"}
        onClose={() => setAsks(null)}
        onYes={() => setEnabled(false)}
        isBusy={isBusy}
        title={t.disableTitle(host)}
        about={t.disableAbout}
        yes={t.disableYes}
      />
      <AskDialog
        isOpen={asks === "delete"}
        onClose={() => setAsks(null)}
        onYes={remove}
        isBusy={isBusy}
        isDanger
        title={t.deleteTitle(host)}
        about={t.deleteAbout}
        yes={t.deleteYes}
      />
    </>
  );
}

function useEndpointChanges({ id, url }: Endpoint, onDone: () => void, onDeleted?: () => Promise<void>) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  const queryClient = useQueryClient();
  const host = hostOf(url);
  const params = { path: { id } };
  const onError = (error: unknown): void => toast({ ...errorText(asApiError(error)), isBad: true });
  const change = useMutation({
    mutationFn: (enabled: boolean) => bodyOf(api.PATCH("/api/webhooks/{id}", { params, body: { enabled } })),
    onSuccess(_answer, enabled) {
      onDone();
      if (enabled) return toast({ title: t.enabled(host), about: t.enabledAbout });
      toast({ title: t.disabled(host), action: { label: t.undo, run: () => change.mutate(true) } });
    },
    onError,
  });
  const removal = useMutation({
    mutationFn: () => bodyOf(api.DELETE("/api/webhooks/{id}", { params })),
    async onSuccess() {
      onDone();
      toast({ title: t.deleted(host) });
      await onDeleted?.();
      queryClient.removeQueries({ queryKey: ["endpoints", id] });
    },
    onError,
  });
  return {
    setEnabled: change.mutate,
    remove: () => removal.mutate(),
    isBusy: change.isPending || removal.isPending,
  };
}
