import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, asApiError, bodyOf, type Schemas } from "../api/client.ts";
import { useFormat, useNow } from "../display/format.ts";
import { useEndpointName } from "../endpoints/endpoint-names.ts";
import { useTexts } from "../texts/texts.ts";
import { Unread } from "../ui/states.tsx";
import { causeOf, useCauseTexts } from "./cause.ts";
import { texts } from "./drawer-texts.ts";
import { StatusIcon } from "./status-mark.tsx";

/** An attempt takes as long, as a rule. */
const SETTLE_MS = 3000;
/** Timers take no longer. */
const LONGEST_MS = 3_600_000;

type AtEndpoint = Schemas["GetEventAnswer"]["endpoints"][number];

/** What became of an event: each attempt at this endpoint, what comes next, and how it stands elsewhere. */
export function Timeline({
  eventId,
  endpointId,
  deliveryId,
}: {
  eventId: string;
  endpointId: string;
  deliveryId: string;
}) {
  const t = useTexts(texts);
  const { data, error, refetch } = useQuery({
    queryKey: ["events", eventId],
    queryFn: ({ signal }) =>
      bodyOf(api.GET("/api/events/{event_id}", { signal, params: { path: { event_id: eventId } } })),
    refetchInterval: ({ state }) => msToNext(state.data?.endpoints ?? []),
  });
  if (data === undefined && (error === null || asApiError(error).kind === "absent")) return null;
  return (
    <section className="mt-6">
      <h3 className="mb-2 font-semibold">{t.timeline}</h3>
      {data === undefined ? (
        <Unread about={t.timelineUnread} error={error} onRetry={() => void refetch()} />
      ) : (
        <AtEndpoints event={data} endpointId={endpointId} deliveryId={deliveryId} />
      )}
    </section>
  );
}

function AtEndpoints({
  event,
  endpointId,
  deliveryId,
}: {
  event: Schemas["GetEventAnswer"];
  endpointId: string;
  deliveryId: string;
}) {
  const t = useTexts(texts);
  const own = event.endpoints.find((one) => one.endpoint_id === endpointId);
  const others = event.endpoints.filter((one) => one !== own);
  return (
    <>
      {own !== undefined && <Attempts at={own} deliveryId={deliveryId} />}
      {event.is_partial && <p className="mt-1 text-sm text-wait">{t.partial}</p>}
      {others.length > 0 && (
        <>
          <h4 className="mt-4 mb-1 text-sm text-muted">{t.elsewhere}</h4>
          <ul className="space-y-1">
            {others.map((one) => (
              <Elsewhere key={one.endpoint_id} at={one} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Until the next attempt should be over; soon again where it should be by now; false where none follows. */
function msToNext(endpoints: readonly AtEndpoint[]): number | false {
  const due = endpoints.flatMap((at) =>
    at.state === "held" || at.next_attempt_at === null ? [] : Date.parse(at.next_attempt_at) - Date.now(),
  );
  if (due.length === 0) return false;
  return Math.min(Math.max(Math.min(...due), 0) + SETTLE_MS, LONGEST_MS);
}

function Attempts({ at, deliveryId }: { at: AtEndpoint; deliveryId: string }) {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  const { short } = useCauseTexts();
  const next = at.next_attempt_at;
  const attempts = at.attempts
    .map((one) => ({ one, when: new Date(one.sent_at ?? one.next_attempt_at ?? one.created_at) }))
    .toSorted((a, b) => a.when.getTime() - b.when.getTime() || (a.one.id < b.one.id ? -1 : 1));
  return (
    <ol className="relative ml-1.5 border-l border-line">
      {attempts.map(({ one, when }) => {
        const cause = causeOf(one);
        return (
          <li key={one.id} className="relative mb-1 pl-5">
            <span className="absolute top-1.5 -left-2 flex size-4 items-center justify-center rounded-full bg-surface">
              <StatusIcon status={one.status} />
            </span>
            <Link
              to="."
              search={(before) => ({ ...before, d: one.id })}
              replace
              resetScroll={false}
              aria-current={one.id === deliveryId ? "true" : undefined}
              className={`flex flex-wrap gap-x-3 rounded-md px-2 py-1 hover:bg-hover ${one.id === deliveryId ? "bg-accent-soft" : ""}`}
            >
              <span className="tabular text-muted">
                {format.day(when)}, {format.clock(when)}
              </span>
              <span>{t.triggers[one.replay_id === null ? one.trigger : "replay"]}</span>
              <span className={`ml-auto ${cause === null ? "text-muted" : "text-bad"}`}>
                {cause === null ? one.response_status : short(cause)}
              </span>
            </Link>
          </li>
        );
      })}
      <li className="relative pl-7 text-sm text-muted">
        {at.state === "held"
          ? t.held
          : next === null
            ? t.last
            : new Date(next) <= now
              ? t.due
              : t.next(`${format.ago(new Date(next), now)} (${format.dateTime(new Date(next))})`)}
      </li>
    </ol>
  );
}

function Elsewhere({ at }: { at: AtEndpoint }) {
  const t = useTexts(texts);
  const name = useEndpointName(t.deletedEndpoint)(at.endpoint_id);
  const newest = at.attempts.toSorted((one, other) => (one.id < other.id ? 1 : -1))[0];
  const status = at.state === "held" ? "pending" : at.state;
  return (
    <li className="flex items-center gap-2">
      <StatusIcon status={status} />
      {newest === undefined ? (
        <span translate="no">{name}</span>
      ) : (
        <Link
          to="."
          search={(before) => ({ ...before, d: newest.id })}
          resetScroll={false}
          className="truncate hover:underline"
          translate="no"
        >
          {name}
        </Link>
      )}
    </li>
  );
}
