import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { api, bodyOf, type Schemas } from "../api/client.ts";
import { endpointsQuery } from "../api/queries.ts";
import { useFormat } from "../display/format.ts";
import { ShortcutHelp } from "../shell/shortcut-help.tsx";
import { texts as shellTexts } from "../shell/texts.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { useTexts } from "../texts/texts.ts";
import { Button } from "../ui/button.tsx";
import { Drawer } from "../ui/drawer.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Failed, Loading } from "../ui/states.tsx";
import { UrlText } from "../ui/url-text.tsx";
import { causeOf, useCauseTexts } from "./cause.ts";
import { DeliveryActions } from "./delivery-actions.tsx";
import { texts } from "./drawer-texts.ts";
import { MessageView } from "./message-view.tsx";
import { StatusBadge } from "./status-mark.tsx";
import { Timeline } from "./timeline.tsx";

const KEPT_CHARACTERS = 1000;

/** Undefined at an end of the list. */
type Moves = { onNewer: (() => void) | undefined; onOlder: (() => void) | undefined };
type DrawerProps = Moves & { deliveryId: string; onClose: () => void };

/** One delivery beside the list that it was chosen from. */
export function DeliveryDrawer({ deliveryId, onClose, onNewer, onOlder }: DrawerProps) {
  const t = useTexts(texts);
  const { data, error, refetch } = useQuery({
    queryKey: ["delivery", deliveryId],
    queryFn: ({ signal }) =>
      bodyOf(api.GET("/api/deliveries/{did}", { signal, params: { path: { did: deliveryId } } })),
  });
  const delivery = data?.delivery;
  return (
    <Drawer
      onClose={onClose}
      title={
        delivery === undefined ? (
          t.delivery
        ) : (
          <>
            <StatusBadge status={delivery.status} />
            <span className="truncate" translate="no">
              {delivery.event_type}
              {delivery.event_version > 1 && `@${delivery.event_version}`}
            </span>
          </>
        )
      }
      actions={
        <>
          <MoveButton icon="up" label={t.newer} onMove={onNewer} />
          <MoveButton icon="down" label={t.older} onMove={onOlder} />
        </>
      }
    >
      <Keys onNewer={onNewer} onOlder={onOlder} />
      {delivery !== undefined ? (
        <Shown key={delivery.id} delivery={delivery} />
      ) : error === null ? (
        <Loading />
      ) : (
        <Failed error={error} onRetry={() => void refetch()} />
      )}
    </Drawer>
  );
}

type MoveProps = { icon: IconName; label: string; onMove: (() => void) | undefined };

/** It keeps the focus at the end of the list. */
function MoveButton({ icon, label, onMove }: MoveProps) {
  return (
    <Button
      kind="quiet"
      icon={icon}
      aria-label={label}
      aria-disabled={onMove === undefined || undefined}
      onClick={onMove}
    />
  );
}

/** Within the drawer, so that these are its keys. */
function Keys({ onNewer, onOlder }: Moves) {
  const t = useTexts(texts);
  const { help } = useTexts(shellTexts);
  const [hasHelp, setHasHelp] = useState(false);
  useShortcuts([
    { key: "j", about: t.nextKey, run: () => onOlder?.() },
    { key: "k", about: t.previousKey, run: () => onNewer?.() },
    { key: "?", about: help, run: () => setHasHelp(true) },
  ]);
  return <ShortcutHelp isOpen={hasHelp} onClose={() => setHasHelp(false)} />;
}

function Shown({ delivery }: { delivery: Schemas["Delivery"] }) {
  const t = useTexts(texts);
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const url = endpoints.find(({ id }) => id === delivery.endpoint_id)?.url;
  const cause = causeOf(delivery);
  const isSent = delivery.request_headers !== null;
  const isCut = (delivery.response_body?.length ?? 0) >= KEPT_CHARACTERS;
  return (
    <>
      {url !== undefined && (
        <Link
          to="/endpoints/$endpointId"
          params={{ endpointId: delivery.endpoint_id }}
          className="wrap-anywhere hover:underline"
        >
          <UrlText url={url} />
        </Link>
      )}
      {cause !== null && <Why cause={cause} status={delivery.response_status} />}
      <DeliveryActions delivery={delivery} url={url} />
      <Facts delivery={delivery} />
      {delivery.event_id !== null && (
        <Timeline eventId={delivery.event_id} endpointId={delivery.endpoint_id} deliveryId={delivery.id} />
      )}
      <MessageView
        title={delivery.response_status === null ? t.response : `${t.response} ${delivery.response_status}`}
        headers={delivery.response_headers}
        body={delivery.response_body}
        absent={delivery.response_status === null ? (isSent ? t.noResponse : t.notSent) : null}
        note={isCut ? t.cut : null}
      />
      <MessageView
        title={t.request}
        headers={delivery.request_headers}
        body={delivery.request_body}
        absent={isSent || delivery.request_body !== null ? null : t.notSent}
      />
    </>
  );
}

/** The error in words, and what to do about it. */
function Why({ cause, status }: { cause: string; status: number | null }) {
  const t = useTexts(texts);
  const { title, advice } = useCauseTexts();
  return (
    <div className="mt-3 flex gap-3 rounded-lg bg-bad-soft px-4 py-3">
      <Icon name="alert" className="mt-0.5 text-bad" />
      <div>
        <p className="font-medium text-bad">
          {title(cause)} <span className="font-normal">({status ?? cause})</span>
        </p>
        <p className="text-sm">
          <span className="sr-only">{t.whatToDo}: </span>
          {advice(cause)}
        </p>
      </div>
    </div>
  );
}

function Facts({ delivery }: { delivery: Schemas["Delivery"] }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { sent_at: sentAt, next_attempt_at: dueAt, event_id: eventId, id } = delivery;
  return (
    <dl className="mt-4 grid grid-cols-2 gap-x-6 gap-y-2 rounded-lg border border-line px-4 py-3 sm:grid-cols-4">
      {sentAt !== null && <Fact name={t.at}>{format.dateTime(new Date(sentAt))}</Fact>}
      {dueAt !== null && <Fact name={t.scheduled}>{format.dateTime(new Date(dueAt))}</Fact>}
      {sentAt !== null && <Fact name={t.took}>{format.milliseconds(delivery.latency_ms)}</Fact>}
      <Fact name={t.attempt}>{format.number(delivery.attempt)}</Fact>
      <Fact name={t.trigger}>{t.triggers[delivery.replay_id === null ? delivery.trigger : "replay"]}</Fact>
      {eventId !== null && (
        <Fact name={t.event} isId>
          {eventId}
        </Fact>
      )}
      <Fact name={t.id} isId>
        {id}
      </Fact>
    </dl>
  );
}

function Fact({ name, isId = false, children }: { name: string; isId?: boolean; children: ReactNode }) {
  return (
    <div className={isId ? "col-span-2" : ""}>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className={isId ? "font-mono text-xs break-all select-all" : "tabular text-sm"}>{children}</dd>
    </div>
  );
}
