import { Link } from "@tanstack/react-router";
import { memo, useCallback, useEffect } from "react";
import { causeOf, useCauseTexts } from "../../deliveries/cause.ts";
import { StatusIcon } from "../../deliveries/status-mark.tsx";
import { useFormat, useNow } from "../../display/format.ts";
import {
  choiceName,
  nameOf,
  useKnownEndpoints,
  useUnknownName,
  type Known,
} from "../../endpoints/endpoint-names.ts";
import { useVirtualRowKeys, useVirtualRows } from "../../shell/virtual-rows.ts";
import { useTexts } from "../../texts/texts.ts";
import { ROW_ON_PAPER } from "../../ui/printing.ts";
import type { Row } from "./live-tail.ts";
import type { LogSearch } from "./log-search.ts";
import { texts } from "./texts.ts";
import type { useLog } from "./use-log.ts";

const HEIGHT = 41;
const OVERSCAN = 12;
/** So close to the end the next page is read. */
const AHEAD_ROWS = 30;
/** Empty pages that are passed without asking. */
const MAX_EMPTY_PAGES = 3;
const COLUMNS =
  "grid grid-cols-[1rem_minmax(0,1fr)_auto] items-center gap-x-3 md:grid-cols-[1rem_11rem_minmax(0,1.2fr)_minmax(0,1fr)_7.5rem_4.5rem]";

type RowsProps = {
  rows: readonly Row[];
  search: LogSearch;
  query: ReturnType<typeof useLog>["query"];
  onOpen: (id: string) => void;
};

export function LogRows({ rows, search, query, onOpen }: RowsProps) {
  const t = useTexts(texts);
  const count = rows.length;
  const keyOf = useCallback((index: number) => rows[index]?.id ?? index, [rows]);
  const { place, offset, list } = useVirtualRows({ keyOf, count, height: HEIGHT, overscan: OVERSCAN });
  const items = list.getVirtualItems();
  useReadAhead(query, (items.at(-1)?.index ?? 0) > rows.length - AHEAD_ROWS);
  useVirtualRowKeys({
    count,
    openedRow: () => rows.findIndex(({ id }) => id === search.d),
    about: t,
    scrollTo: (index) => list.scrollToIndex(index),
    onOpen: (index) => {
      const row = rows[index];
      if (row !== undefined) onOpen(row.id);
    },
  });
  const endpoints = useKnownEndpoints();
  const unknownName = useUnknownName(t.unknownEndpoint);
  return (
    <div className="overflow-clip rounded-xl border border-line bg-surface print:overflow-visible">
      <div
        aria-hidden
        className={`hidden border-b border-line px-4 py-2 text-xs font-medium text-muted md:grid ${COLUMNS}`}
      >
        <span />
        <span>{t.time}</span>
        <span>{t.type}</span>
        <span>{t.endpoint}</span>
        <span>{t.result}</span>
        <span className="text-right">{t.took}</span>
      </div>
      <ul
        ref={place}
        data-log
        tabIndex={-1}
        aria-label={t.list}
        className="relative outline-none print:h-auto!"
        style={{ height: list.getTotalSize() }}
      >
        {items.map(({ index, start, key }) => {
          const row = rows[index];
          return (
            row !== undefined && (
              <li
                key={key}
                ref={list.measureElement}
                data-index={index}
                aria-posinset={index + 1}
                aria-setsize={query.hasNextPage ? -1 : rows.length}
                className={`absolute inset-x-0 top-0 border-b border-line last:border-b-0 ${ROW_ON_PAPER}`}
                style={{ transform: `translateY(${start - offset}px)` }}
              >
                <LogRow
                  row={row}
                  endpoint={endpoints.get(row.endpoint_id)}
                  unknown={unknownName(row.endpoint_id)}
                  isOpen={row.id === search.d}
                />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

type LogRowProps = {
  row: Row;
  endpoint: Known | undefined;
  /** In place of its name where it is not known. */
  unknown: string;
  isOpen: boolean;
};

/** Remembered: scrolling makes rows, and leaves those that are there. */
const LogRow = memo(function LogRow({ row, endpoint, unknown, isOpen }: LogRowProps) {
  const format = useFormat();
  return (
    <Link
      to="/log"
      search={(before) => ({ ...before, d: row.id })}
      resetScroll={false}
      data-row
      aria-current={isOpen ? "true" : undefined}
      className={`px-4 py-2.5 text-sm outline-none hover:bg-hover focus-visible:bg-hover focus-visible:outline-2 focus-visible:-outline-offset-2 focus-visible:outline-accent ${isOpen ? "bg-accent-soft" : ""} ${COLUMNS}`}
    >
      <StatusIcon status={row.status} />
      <span className="tabular col-start-2 col-end-4 row-start-2 truncate text-muted md:col-auto md:row-auto">
        <SentAt row={row} />
        <span className="md:hidden" translate="no">
          {" · "}
          <EndpointName endpoint={endpoint} unknown={unknown} of={choiceName} />
        </span>
      </span>
      <span className="col-start-2 row-start-1 flex min-w-0 items-baseline gap-2 md:col-auto md:row-auto">
        <span className="truncate font-medium" translate="no">
          {typeOf(row)}
        </span>
        <Trigger row={row} />
      </span>
      <span className="hidden truncate text-muted md:block" translate="no">
        <EndpointName endpoint={endpoint} unknown={unknown} of={nameOf} />
      </span>
      <Result row={row} />
      <span className="tabular hidden text-right text-muted md:block">
        {row.status === "pending" || row.sent_at === null ? "" : format.milliseconds(row.latency_ms)}
      </span>
    </Link>
  );
});

/** Cut off at its end, so what tells endpoints of the same URL apart comes first. */
function EndpointName({
  endpoint,
  unknown,
  of,
}: Pick<LogRowProps, "endpoint" | "unknown"> & { of: (url: string) => string }) {
  if (endpoint === undefined) return unknown;
  const { url, mark } = endpoint;
  return (
    <>
      {mark !== undefined && (
        // Text that runs from right to left must not turn the URL around.
        <>
          <bdi>{mark}</bdi> ·{" "}
        </>
      )}
      {of(url)}
    </>
  );
}

/** Older rows, and those that could not be sent, have the time of their planning alone. */
function SentAt({ row }: { row: Row }) {
  const t = useTexts(texts);
  const format = useFormat();
  if (row.status === "pending") return t.notYet;
  const at = new Date(row.sent_at ?? row.created_at);
  return (
    <time dateTime={at.toISOString()} title={format.dateTime(at)}>
      {format.day(at)}, {format.clock(at)}
    </time>
  );
}

/** With its version where there is more than the first. */
function typeOf({ event_type: type, event_version: version }: Row): string {
  return version > 1 ? `${type}@${version}` : type;
}

function Trigger({ row }: { row: Row }) {
  const t = useTexts(texts);
  const format = useFormat();
  const notes = [
    ...(row.attempt > 1 ? [t.attempt(format.number(row.attempt))] : []),
    ...(row.replay_id !== null ? [t.replayed] : row.trigger === "retry" ? [t.manual] : []),
  ];
  return <span className="shrink-0 text-xs text-muted">{notes.join(" · ")}</span>;
}

function Result({ row }: { row: Row }) {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  const { short } = useCauseTexts();
  const cause = causeOf(row);
  if (row.status === "pending") {
    const next = new Date(row.next_attempt_at ?? row.created_at);
    return (
      <span className="truncate text-wait" title={format.dateTime(next)}>
        {next <= now ? t.due : t.pendingAt(format.ago(next, now))}
      </span>
    );
  }
  return (
    <span className={`truncate ${cause === null ? "text-muted" : "text-bad"}`}>
      {cause === null ? row.response_status : short(cause)}
    </span>
  );
}

/** Reads on as the person scrolls, and past a few pages on which a search found nothing. */
function useReadAhead(query: RowsProps["query"], isNearEnd: boolean): void {
  const pages = query.data?.pages ?? [];
  const empty = pages.length - 1 - pages.findLastIndex(({ rows }) => rows.length > 0);
  const shallRead = isNearEnd && query.hasNextPage && !query.isFetching && empty < MAX_EMPTY_PAGES;
  useEffect(() => {
    if (shallRead) void query.fetchNextPage();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the query is another object each time
  }, [shallRead]);
}
