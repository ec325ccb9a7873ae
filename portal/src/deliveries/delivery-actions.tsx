import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, asApiError, bodyOf, type Schemas } from "../api/client.ts";
import { endpointsQuery } from "../api/queries.ts";
import { choicesOf } from "../endpoints/endpoint-names.ts";
import { usePermissions } from "../session/permissions.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { useTexts } from "../texts/texts.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Select } from "../ui/select.tsx";
import { useErrorText } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { texts as uiTexts } from "../ui/texts.ts";
import { causeOf, useCauseTexts } from "./cause.ts";
import { curlOf } from "./curl.ts";
import { texts } from "./drawer-texts.ts";

type Delivery = Schemas["Delivery"];

/** Send again, send elsewhere, take along as curl. */
export function DeliveryActions({ delivery, url }: { delivery: Delivery; url: string | undefined }) {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const [isSending, setIsSending] = useState(false);
  return (
    <div className="mt-4 flex flex-wrap gap-2">
      {mayWrite && delivery.status === "failed" && url !== undefined && <RetryButton delivery={delivery} />}
      {mayWrite && delivery.event_id !== null && (
        <Button icon="send" onClick={() => setIsSending(true)}>
          {t.sendTo}
        </Button>
      )}
      {url !== undefined && delivery.request_headers !== null && (
        <span title={t.curlAbout}>
          <CopyButton small={false} label={t.curl} text={curlOf(url, delivery)} />
        </span>
      )}
      {url !== undefined && delivery.request_headers !== null && (
        <LinkButton
          icon="key"
          to="/endpoints/$endpointId/secret"
          params={{ endpointId: delivery.endpoint_id }}
          search={{ tab: "debug", delivery: delivery.id }}
        >
          {t.check}
        </LinkButton>
      )}
      {isSending && delivery.event_id !== null && (
        <SendElsewhere
          eventId={delivery.event_id}
          endpointId={delivery.endpoint_id}
          onClose={() => setIsSending(false)}
        />
      )}
    </div>
  );
}

function RetryButton({ delivery: { id: did, endpoint_id: id } }: { delivery: Delivery }) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  const { title } = useCauseTexts();
  const retry = useMutation({
    mutationFn: () =>
      bodyOf(api.POST("/api/webhooks/{id}/deliveries/{did}/retry", { params: { path: { id, did } } })),
    onSuccess({ delivery }) {
      const cause = causeOf(delivery);
      if (cause === null) toast({ title: t.retried, about: String(delivery.response_status ?? "") });
      else toast({ title: t.retriedBad, about: title(cause), isBad: true });
    },
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
  });
  useShortcuts([{ key: "r", about: t.retry, run: () => !retry.isPending && retry.mutate() }]);
  return (
    <Button
      kind="primary"
      icon="retry"
      isBusy={retry.isPending}
      title={t.retryAbout}
      onClick={() => retry.mutate()}
    >
      {retry.isPending ? t.retrying : t.retry}
    </Button>
  );
}

function SendElsewhere({
  eventId,
  endpointId,
  onClose,
}: {
  eventId: string;
  endpointId: string;
  onClose: () => void;
}) {
  const t = useTexts(texts);
  const ui = useTexts(uiTexts);
  const errorText = useErrorText();
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const enabled = endpoints.filter((one) => one.enabled);
  const [chosen, setChosen] = useState("");
  const first = enabled.find(({ id }) => id !== endpointId) ?? enabled[0];
  const target = chosen === "" ? (first?.id ?? "") : chosen;
  const sending = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST("/api/events/{event_id}/send", {
          params: { path: { event_id: eventId } },
          body: { endpoint_id: target },
        }),
      ),
    onSuccess() {
      toast({ title: t.sent });
      onClose();
    },
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.sendToTitle}
      about={t.sendToAbout}
      footer={
        <>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button
            kind="primary"
            icon="send"
            isBusy={sending.isPending}
            disabled={target === ""}
            onClick={() => sending.mutate()}
          >
            {t.send}
          </Button>
        </>
      }
    >
      <div className="mt-4">
        <Select label={t.endpoint} value={target} onChange={setChosen}>
          {choicesOf(enabled).map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      </div>
    </Dialog>
  );
}
