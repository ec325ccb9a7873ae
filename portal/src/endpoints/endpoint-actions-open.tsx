import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactElement } from "react";
import { api, asApiError, bodyOf, type Endpoint } from "../api/client.ts";
import { useTexts } from "../texts/texts.ts";
import { OpenMenu } from "../ui/action-menu-open.tsx";
import { AskDialog } from "../ui/dialog.tsx";
import type { Action } from "../ui/menu.tsx";
import { useErrorText } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { nameOf } from "./endpoint-names.ts";
import { texts } from "./texts.ts";

type OpenProps = { trigger: ReactElement; endpoint: Endpoint; onDeleted: (() => Promise<void>) | undefined };

export function OpenActions({ trigger, endpoint, onDeleted }: OpenProps) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const [asks, setAsks] = useState<"disable" | "delete" | null>(null);
  const { setEnabled, remove, isBusy } = useEndpointChanges(endpoint, () => setAsks(null), onDeleted);
  const name = nameOf(endpoint.url);
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
      <OpenMenu trigger={trigger} actions={actions} />
      <AskDialog
        isOpen={asks === "disable"}
        onClose={() => setAsks(null)}
        onYes={() => setEnabled(false)}
        isBusy={isBusy}
        title={t.disableTitle(name)}
        about={t.disableAbout}
        yes={t.disableYes}
      />
      <AskDialog
        isOpen={asks === "delete"}
        onClose={() => setAsks(null)}
        onYes={remove}
        isBusy={isBusy}
        isDanger
        title={t.deleteTitle(name)}
        about={t.deleteAbout}
        yes={t.deleteYes}
      />
    </>
  );
}

function useEndpointChanges({ id, url }: Endpoint, onDone: () => void, onDeleted: OpenProps["onDeleted"]) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  const queryClient = useQueryClient();
  const name = nameOf(url);
  const params = { path: { id } };
  const onError = (error: unknown): void => toast({ ...errorText(asApiError(error)), isBad: true });
  const change = useMutation({
    mutationFn: (enabled: boolean) => bodyOf(api.PATCH("/api/webhooks/{id}", { params, body: { enabled } })),
    onSuccess(_answer, enabled) {
      onDone();
      if (enabled) return toast({ title: t.enabled(name), about: t.enabledAbout });
      toast({ title: t.disabled(name), action: { label: t.undo, run: () => change.mutate(true) } });
    },
    onError,
  });
  const removal = useMutation({
    mutationFn: () => bodyOf(api.DELETE("/api/webhooks/{id}", { params })),
    async onSuccess() {
      onDone();
      toast({ title: t.deleted(name) });
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
