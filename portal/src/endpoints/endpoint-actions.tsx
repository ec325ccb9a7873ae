import { Menu } from "@base-ui/react/menu";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, asApiError, bodyOf, type Endpoint } from "../api/client.ts";
import { usePermissions } from "../session/permissions.ts";
import { useTexts } from "../texts/texts.ts";
import { AskDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { MenuItem, MenuPopup } from "../ui/menu.tsx";
import { useErrorText } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { hostOf } from "../ui/url-text.tsx";
import { texts } from "./texts.ts";

/** Enable, disable, edit and delete one endpoint. Nothing for a session that may read only. */
export function EndpointActions({ endpoint, onDeleted }: { endpoint: Endpoint; onDeleted?: () => void }) {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const navigate = useNavigate();
  const [asks, setAsks] = useState<"disable" | "delete" | null>(null);
  const { setEnabled, remove, isBusy } = useEndpointChanges(endpoint, () => setAsks(null), onDeleted);
  const host = hostOf(endpoint.url);
  if (!mayWrite) return null;
  return (
    <>
      <Menu.Root modal={false}>
        <Menu.Trigger
          aria-label={t.actions(host)}
          className="flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink data-popup-open:bg-hover"
        >
          <Icon name="more" />
        </Menu.Trigger>
        <MenuPopup>
          <MenuItem
            icon="edit"
            onClick={() =>
              void navigate({ to: "/endpoints/$endpointId/edit", params: { endpointId: endpoint.id } })
            }
          >
            {t.edit}
          </MenuItem>
          {endpoint.enabled ? (
            <MenuItem icon="pause" onClick={() => setAsks("disable")}>
              {t.disable}
            </MenuItem>
          ) : (
            <MenuItem icon="play" onClick={() => setEnabled(true)}>
              {t.enable}
            </MenuItem>
          )}
          <MenuItem icon="trash" isDanger onClick={() => setAsks("delete")}>
            {t.delete}
          </MenuItem>
        </MenuPopup>
      </Menu.Root>
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

function useEndpointChanges({ id, url }: Endpoint, onDone: () => void, onDeleted?: () => void) {
  const t = useTexts(texts);
  const errorText = useErrorText();
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
    onSuccess() {
      onDone();
      toast({ title: t.deleted(host) });
      onDeleted?.();
    },
    onError,
  });
  return {
    setEnabled: change.mutate,
    remove: () => removal.mutate(),
    isBusy: change.isPending || removal.isPending,
  };
}
