import { Link, useNavigate } from "@tanstack/react-router";
import { memo, useCallback } from "react";
import { useFormat } from "../../display/format.ts";
import { EndpointActions } from "../../endpoints/endpoint-actions.tsx";
import type { EndpointStats } from "../../endpoints/endpoint-state.ts";
import { ModeBadges, StateBadge } from "../../endpoints/state-badge.tsx";
import { texts as endpointTexts } from "../../endpoints/texts.ts";
import { usePermissions } from "../../session/permissions.ts";
import { useVirtualRowKeys, useVirtualRows } from "../../shell/virtual-rows.ts";
import { useTexts } from "../../texts/texts.ts";
import { ROW_ON_PAPER } from "../../ui/printing.ts";
import { Sparkline } from "../../ui/sparkline.tsx";
import { Ago } from "../../ui/time.tsx";
import { UrlText } from "../../ui/url-text.tsx";
import { newest, type Listed } from "./listed.ts";
import { texts } from "./texts.ts";

const COLUMNS = "md:grid md:grid-cols-[minmax(0,1fr)_6.5rem_6.5rem_7.5rem_2rem] md:items-center md:gap-5";
const HEIGHT = 68;
const OVERSCAN = 8;

/** A thousand endpoints are as quick as ten: only rows in sight are made. */
export function EndpointList({ listed, hasStats }: { listed: readonly Listed[]; hasStats: boolean }) {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const count = listed.length;
  const keyOf = useCallback((index: number) => listed[index]?.endpoint.id ?? index, [listed]);
  const { place, offset, list } = useVirtualRows({ keyOf, count, height: HEIGHT, overscan: OVERSCAN });
  const navigate = useNavigate();
  useVirtualRowKeys({
    count,
    about: t,
    scrollTo: (index) => list.scrollToIndex(index),
    onOpen: (index) => {
      const endpointId = listed[index]?.endpoint.id;
      if (endpointId !== undefined) void navigate({ to: "/endpoints/$endpointId", params: { endpointId } });
    },
  });
  return (
    <div className="rounded-xl border border-line bg-surface">
      <div
        aria-hidden
        className={`hidden border-b border-line px-4 py-2 text-xs font-medium text-muted ${COLUMNS}`}
      >
        <span>{t.endpoint}</span>
        <span>{t.day}</span>
        <span className="text-right">{t.rate}</span>
        <span>{t.last}</span>
      </div>
      <ul ref={place} className="relative print:h-auto!" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start, key }) => {
          const one = listed[index];
          return (
            one !== undefined && (
              <li
                key={key}
                ref={list.measureElement}
                data-index={index}
                aria-posinset={index + 1}
                aria-setsize={listed.length}
                className={`absolute inset-x-0 top-0 border-b border-line last:border-b-0 has-[a:focus-visible]:bg-hover hover:bg-hover ${ROW_ON_PAPER}`}
                style={{ transform: `translateY(${start - offset}px)` }}
              >
                <Row {...one} hasStats={hasStats} mayWrite={mayWrite} />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

type RowProps = Listed & { hasStats: boolean; mayWrite: boolean };

/** Remembered: scrolling makes rows, and leaves those that are there. */
const Row = memo(function Row({ endpoint, stats, state, hasStats, mayWrite }: RowProps) {
  const own = useTexts(endpointTexts);
  const events = endpoint.events.includes("*") ? own.allEvents : endpoint.events.join(", ") || own.noEvents;
  return (
    <div className={`relative px-4 py-3 ${COLUMNS}`}>
      <div className="min-w-0 pr-10 md:pr-0">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5 md:flex-nowrap">
          <Link
            to="/endpoints/$endpointId"
            params={{ endpointId: endpoint.id }}
            data-row
            className="min-w-0 truncate outline-none after:absolute after:inset-0 focus-visible:after:rounded-lg focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          >
            <UrlText url={endpoint.url} />
          </Link>
          {hasStats && state !== null && <StateBadge state={state} />}
          <ModeBadges endpoint={endpoint} />
        </div>
        <p className="truncate text-sm text-muted">
          {endpoint.description !== null && endpoint.description !== "" && (
            // Text that runs from right to left must not turn the event types around.
            <>
              <bdi>{endpoint.description}</bdi> ·{" "}
            </>
          )}
          <span translate="no">{events}</span>
        </p>
      </div>
      <div className="mt-2 flex items-center gap-4 empty:hidden md:contents">
        {stats === undefined ? null : <Day stats={stats} />}
      </div>
      <div className="absolute top-2.5 right-2 md:relative md:top-auto md:right-auto md:col-start-5">
        {mayWrite && <EndpointActions endpoint={endpoint} />}
      </div>
    </div>
  );
});

function Day({ stats }: { stats: EndpointStats }) {
  const t = useTexts(texts);
  const format = useFormat();
  const last = newest(stats.last_delivered_at, stats.last_failed_at);
  return (
    <>
      <Sparkline series={stats.series} />
      <div className="tabular text-right text-sm">
        {stats.success_rate === null ? (
          <span className="text-muted">{t.noAttempts}</span>
        ) : (
          <span title={t.rateAbout(format.percent(stats.success_rate))}>
            {format.percent(stats.success_rate)}
          </span>
        )}
        {stats.pending > 0 && (
          <div className="text-xs text-wait">{t.pending(format.number(stats.pending))}</div>
        )}
      </div>
      <div className="tabular text-sm text-muted">{last === null ? t.never : <Ago at={last} />}</div>
    </>
  );
}
