import { useQueryClient } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { DeliveryChart } from "../../deliveries/delivery-chart.tsx";
import { useFormat } from "../../display/format.ts";
import { useEndpointsOf } from "../../endpoints/endpoint-names.ts";
import { usePermissions } from "../../session/permissions.ts";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Button, LinkButton } from "../../ui/button.tsx";
import { focusTitle } from "../../ui/focus.ts";
import { Part } from "../../ui/part.tsx";
import { Empty, Failed, Loading, useIsLoading } from "../../ui/states.tsx";
import { FilterBar } from "./filter-bar.tsx";
import type { Row, TailState } from "./live-tail.ts";
import { LogRows } from "./log-rows.tsx";
import {
  exportOf,
  hasFilter,
  NO_FILTER,
  parseLogSearch,
  spanOf,
  type Change,
  type LogSearch,
} from "./log-search.ts";
import { texts } from "./texts.ts";
import { useLog } from "./use-log.ts";
import { lazyPart } from "../../ui/lazy-part.tsx";

const DeliveryDrawer = lazyPart(() =>
  import("../../deliveries/delivery-drawer.tsx").then(({ DeliveryDrawer }) => DeliveryDrawer),
);

const route = getRouteApi("/log");
export const page = createLazyRoute("/log")({ component: LogPage });

function LogPage() {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [readAt, setReadAt] = useState(() => new Date());
  const { range, from, to, endpoint, d } = search;
  const span = useMemo(() => spanOf({ range, from, to }, readAt), [range, from, to, readAt]);
  const log = useLog(search, span, readAt);
  useEndpointsOf(useMemo(() => [...new Set(log.rows.map((row) => row.endpoint_id))], [log.rows]));
  const set = (change: Parameters<Change>[0], options: { replace?: true; resetScroll?: false } = {}): void =>
    void navigate({ search: (before) => parseLogSearch({ ...before, ...change }), ...options });
  // From a button that goes with what it takes away.
  const leaveFor = (change: Parameters<Change>[0]): void => {
    focusTitle();
    set(change);
  };
  // Beside the drawer the log stays where it is.
  const open = (id: string | undefined): void => set({ d: id }, { resetScroll: false });
  const moveTo = (row: Row | undefined) =>
    row && ((): void => set({ d: row.id }, { replace: true, resetScroll: false }));
  const queryClient = useQueryClient();
  const readAnew = (): void => {
    log.forget();
    setReadAt(new Date());
    void queryClient.invalidateQueries({ queryKey: ["stats"] });
    window.scrollTo({ top: 0 });
  };
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        <>
          <Live tail={span.to === null && search.q === undefined ? log.tail : null} />
          {mayWrite && (
            <LinkButton icon="archive" to="/exports" search={exportOf(search, span)}>
              {t.export}
            </LinkButton>
          )}
        </>
      }
    >
      <FilterBar search={search} span={span} onChange={(change) => set(change)} />
      <div className="my-3">
        <DeliveryChart
          from={span.from}
          to={span.to}
          endpointId={endpoint}
          note={hasFilter(search) ? t.chartAbout : undefined}
          onBrush={(start, end) =>
            set({ from: start.toISOString(), to: end.toISOString(), range: undefined })
          }
        />
      </div>
      <Found log={log} />
      <Rows
        log={log}
        search={search}
        onOpen={open}
        onReadAnew={readAnew}
        onClear={() => leaveFor(NO_FILTER)}
        onWiden={() => leaveFor({ range: "30d", from: undefined, to: undefined })}
      />
      {d !== undefined && (
        <Part>
          <DeliveryDrawer
            deliveryId={d}
            onClose={() => open(undefined)}
            // By their ids, newest first: a link may have opened one that the rows leave out.
            onNewer={moveTo(log.rows.findLast(({ id }) => id > d))}
            onOlder={moveTo(log.rows.find(({ id }) => id < d))}
          />
        </Part>
      )}
    </Page>
  );
}

function Live({ tail }: { tail: TailState | null }) {
  const t = useTexts(texts);
  if (tail === null) return null;
  return (
    <span className="flex items-center gap-1.5 text-sm text-muted" role="status">
      <span
        aria-hidden
        className={`size-2 rounded-full ${tail === "watching" ? "bg-good-fill" : "bg-wait-fill"}`}
      />
      {tail === "watching" ? t.live : t.notLive}
    </span>
  );
}

/** Heard after a change of the filters, and not with each page that is read on. */
function Found({ log: { query } }: { log: ReturnType<typeof useLog> }) {
  const t = useTexts(texts);
  const format = useFormat();
  const first = query.data?.pages[0];
  const count = first?.rows.length ?? 0;
  return (
    <p className="sr-only" role="status">
      {first !== undefined && t.found(format.number(count), count, first.next === null)}
    </p>
  );
}

type RowsProps = {
  log: ReturnType<typeof useLog>;
  search: LogSearch;
  onOpen: (id: string) => void;
  onReadAnew: () => void;
  onClear: () => void;
  onWiden: () => void;
};

function Rows({ log, search, onOpen, onReadAnew, onClear, onWiden }: RowsProps) {
  const t = useTexts(texts);
  const { query, rows } = log;
  if (useIsLoading(query.isPending)) return <Loading />;
  if (query.data === undefined) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  const isDone = !query.hasNextPage;
  const isFiltered = hasFilter(search) || search.endpoint !== undefined;
  const widen = search.range !== "30d" && (
    <Button icon="clock" onClick={onWiden}>
      {t.widen}
    </Button>
  );
  return (
    <>
      <Fresh log={log} onReadAnew={onReadAnew} />
      {rows.length > 0 && <LogRows rows={rows} search={search} query={query} onOpen={onOpen} />}
      {rows.length === 0 && isDone && !isFiltered && (
        <Empty icon="log" title={t.emptyTitle} action={widen}>
          {t.empty}
        </Empty>
      )}
      {rows.length === 0 && isDone && isFiltered && (
        <Empty
          icon="filter"
          title={t.noneTitle}
          action={
            <div className="flex flex-wrap justify-center gap-2">
              {widen}
              <Button onClick={onClear}>{t.clear}</Button>
            </div>
          }
        >
          {t.none}
        </Empty>
      )}
      <End log={log} />
    </>
  );
}

/** What came since the rows were read. They stay where they are until the person asks. */
function Fresh({ log, onReadAnew }: { log: ReturnType<typeof useLog>; onReadAnew: () => void }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { fresh, isGapped, take } = log;
  const queryClient = useQueryClient();
  const show = (): void => {
    take(fresh);
    // The button goes, and would take the focus with it.
    document.querySelector<HTMLElement>("[data-log]")?.focus({ preventScroll: true });
    void queryClient.invalidateQueries({ queryKey: ["stats"] });
    window.scrollTo({ top: 0 });
  };
  // Without a height of its own: rows stay where they are when it comes.
  return (
    <div role="status" className="pointer-events-none sticky top-16 z-20 flex h-0 justify-center lg:top-3">
      {fresh.length > 0 && !isGapped && (
        <Button
          kind="primary"
          icon="up"
          className="pointer-events-auto -mt-4 rounded-full! shadow-raised"
          onClick={show}
        >
          {t.fresh(format.number(fresh.length), fresh.length)}
        </Button>
      )}
      {isGapped && (
        <p className="pointer-events-auto -mt-4 flex h-fit items-center gap-2 rounded-full border border-line bg-wait-soft py-1 pr-1 pl-4 text-sm text-wait shadow-raised">
          {t.gap}
          <Button small icon="retry" className="rounded-full!" onClick={onReadAnew}>
            {t.reload}
          </Button>
        </p>
      )}
    </div>
  );
}

/** Below the rows: how far the log was read, and the way on. */
function End({ log: { query, searchedTo, rows } }: { log: ReturnType<typeof useLog> }) {
  const t = useTexts(texts);
  const format = useFormat();
  if (query.hasNextPage) {
    const isReading = query.isFetchingNextPage;
    return (
      <div className="flex flex-wrap items-center justify-center gap-3 p-4 text-sm text-muted">
        {isReading ? t.more : searchedTo !== null && t.searchedTo(format.dateTime(new Date(searchedTo)))}
        {/* It stays while it is at work, and so does the focus. */}
        <Button small isBusy={isReading} onClick={() => void query.fetchNextPage()}>
          {t.searchOn}
        </Button>
      </div>
    );
  }
  return rows.length > 0 && <p className="p-4 text-center text-sm text-muted">{t.end}</p>;
}
