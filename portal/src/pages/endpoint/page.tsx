import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { asApiError, type Endpoint, type Schemas } from "../../api/client.ts";
import { endpointHealthQuery, endpointQuery, endpointStatsQuery } from "../../api/queries.ts";
import { DeliveryChart } from "../../deliveries/delivery-chart.tsx";
import { useFormat, useNow } from "../../display/format.ts";
import { EndpointActions } from "../../endpoints/endpoint-actions.tsx";
import { oldestOf, stateOf } from "../../endpoints/endpoint-state.ts";
import { ModeBadges, StateBadge } from "../../endpoints/state-badge.tsx";
import { texts as endpointTexts } from "../../endpoints/texts.ts";
import { usePermissions } from "../../session/permissions.ts";
import { BackLink } from "../../shell/back-link.tsx";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { LinkButton } from "../../ui/button.tsx";
import { Segments } from "../../ui/field.tsx";
import { Part } from "../../ui/part.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { UrlText } from "../../ui/url-text.tsx";
import { CauseList, useCauses } from "./causes.tsx";
import { EndpointFacts } from "./endpoint-facts.tsx";
import { msToNext } from "./next-attempt.ts";
import { RANGE_MS, RANGES } from "../../url/range.ts";
import { Replays } from "./replays.tsx";
import { texts } from "./texts.ts";
import { lazyPart } from "../../ui/lazy-part.tsx";

const NewReplay = lazyPart(() => import("./new-replay.tsx").then(({ NewReplay }) => NewReplay));

const route = getRouteApi("/endpoints/$endpointId");
export const page = createLazyRoute("/endpoints/$endpointId")({ component: EndpointPage });

const MAX_PENDING = 10_000;

function EndpointPage() {
  const t = useTexts(texts);
  const { endpointId } = route.useParams();
  const { data, error, refetch } = useQuery(endpointQuery(endpointId));
  // Deleted by another person: what was read before is not true any more.
  const isGone = error !== null && asApiError(error).kind === "absent";
  if (data === undefined || isGone) {
    return (
      <Page title={t.title} above={<BackLink to="/endpoints">{t.back}</BackLink>}>
        {error === null ? <Loading /> : <Failed error={error} onRetry={() => void refetch()} />}
      </Page>
    );
  }
  return <Shown endpoint={data.endpoint} />;
}

function Shown({ endpoint }: { endpoint: Endpoint }) {
  const { id } = endpoint;
  const t = useTexts(texts);
  const navigate = useNavigate();
  const { mayWrite } = usePermissions();
  return (
    <Page
      title={endpoint.url}
      heading={<UrlText url={endpoint.url} />}
      above={<BackLink to="/endpoints">{t.back}</BackLink>}
      about={endpoint.description}
      actions={
        <>
          <LinkButton icon="log" to="/log" search={{ endpoint: id }}>
            {t.log}
          </LinkButton>
          {mayWrite && (
            <LinkButton icon="test" to="/endpoints/$endpointId/test" params={{ endpointId: id }}>
              {t.test}
            </LinkButton>
          )}
          <LinkButton icon="key" to="/endpoints/$endpointId/secret" params={{ endpointId: id }}>
            {t.secret}
          </LinkButton>
          {mayWrite && (
            <LinkButton icon="edit" to="/endpoints/$endpointId/edit" params={{ endpointId: id }}>
              {t.edit}
            </LinkButton>
          )}
          {mayWrite && (
            <EndpointActions
              endpoint={endpoint}
              onDeleted={() => navigate({ to: "/endpoints", replace: true })}
            />
          )}
        </>
      }
    >
      <State endpoint={endpoint} />
      <Activity endpointId={id} />
      <EndpointFacts endpoint={endpoint} />
    </Page>
  );
}

/** Its state, why, and what is special just now. */
function State({ endpoint }: { endpoint: Endpoint }) {
  const t = useTexts(texts);
  const own = useTexts(endpointTexts);
  const format = useFormat();
  const hasAttempts = endpoint.enabled && endpoint.mode === "push";
  const statsOf = ({ endpoints }: AllStats) => endpoints.find((one) => one.endpoint_id === endpoint.id);
  const { data: all, dataUpdatedAt } = useQuery({
    ...endpointStatsQuery,
    // When the next attempt is over, another is the next.
    refetchInterval: ({ state }) => hasAttempts && msToNext(state.data && statsOf(state.data), Date.now()),
  });
  const { data: health } = useQuery(endpointHealthQuery(endpoint.id));
  const stats = all && statsOf(all);
  const isUnread = all === undefined && endpoint.enabled;
  const state = isUnread ? null : stateOf(endpoint, stats, oldestOf(all?.endpoints ?? []));
  const time = (at: string): string => format.dateTime(new Date(at));
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {state !== null && <StateBadge state={state} />}
      <ModeBadges endpoint={endpoint} />
      {state !== null && <span className="text-muted">{own.reason[state]}</span>}
      {health !== undefined && health.pending > 0 && (
        <span className="text-wait">
          {health.pending >= MAX_PENDING ? t.pendingMany : t.pending(format.number(health.pending))}
        </span>
      )}
      {hasAttempts && typeof stats?.oldest_due_at === "string" && (
        <NextAttempt at={new Date(stats.oldest_due_at)} readAt={dataUpdatedAt} />
      )}
      {typeof health?.failing_since === "string" && (
        <span className="text-bad">{t.failingSince(time(health.failing_since))}</span>
      )}
      {typeof health?.previous_secret_until === "string" && (
        <span className="text-muted">{t.formerSecret(time(health.previous_secret_until))}</span>
      )}
    </div>
  );
}

type AllStats = Schemas["GetEndpointStatsAnswer"];

/** Of all that is pending. */
function NextAttempt({ at, readAt }: { at: Date; readAt: number }) {
  const t = useTexts(texts);
  const format = useFormat();
  // The shared time may be older than the answer.
  const now = new Date(Math.max(useNow().getTime(), readAt));
  return (
    <span className="text-muted">
      {t.nextAttempt(at <= now ? t.due : `${format.ago(at, now)} (${format.dateTime(at)})`)}
    </span>
  );
}

/** What happened in the chosen time, and what can be sent again. */
function Activity({ endpointId }: { endpointId: string }) {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const { range = "24h", replay, cause } = route.useSearch();
  const navigate = route.useNavigate();
  const from = useMemo(() => new Date(Date.now() - RANGE_MS[range]), [range]);
  const causes = useCauses(endpointId, from);
  const [started, setStarted] = useState<string | null>(null);
  return (
    <>
      <div className="mt-4">
        <DeliveryChart
          from={from}
          to={null}
          endpointId={endpointId}
          onBrush={(start, end) =>
            void navigate({
              to: "/log",
              search: { endpoint: endpointId, from: start.toISOString(), to: end.toISOString() },
            })
          }
        >
          <Segments
            label={t.range}
            value={range}
            options={RANGES.map((value) => ({ value, label: t.ranges[value] }))}
            onChoose={(value) =>
              void navigate({
                search: value === "24h" ? {} : { range: value },
                replace: true,
                resetScroll: false,
              })
            }
          />
        </DeliveryChart>
      </div>
      <CauseList
        causes={causes}
        endpointId={endpointId}
        range={range}
        onReplay={(chosen) =>
          void navigate({
            search: (before) => ({ ...before, replay: "failed", cause: chosen }),
            resetScroll: false,
          })
        }
      />
      <Replays
        endpointId={endpointId}
        started={started}
        onNew={() =>
          void navigate({ search: (before) => ({ ...before, replay: "failed" }), resetScroll: false })
        }
      />
      {replay !== undefined && mayWrite && (
        <Part>
          <NewReplay
            endpointId={endpointId}
            select={replay}
            range={range}
            cause={cause}
            causes={(causes.data ?? []).map((one) => one.cause)}
            onSelect={(select) =>
              void navigate({
                search: (before) => ({ ...before, replay: select }),
                replace: true,
                resetScroll: false,
              })
            }
            onStarted={setStarted}
            onClose={() =>
              void navigate({ search: range === "24h" ? {} : { range }, replace: true, resetScroll: false })
            }
          />
        </Part>
      )}
    </>
  );
}
