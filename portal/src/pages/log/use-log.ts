/**
 * The rows of the log: pages that were read, and deliveries that came since.
 * Rows stay where they are. What is new waits until the person takes it, but a
 * pending row that is shown gets its outcome in place.
 */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject } from "react";
import { api, ApiError } from "../../api/client.ts";
import { pageOf } from "../../url/link.ts";
import { watchLog, type Row, type TailState } from "./live-tail.ts";
import { added, merge, NOTHING, readRows, type Tail } from "./log-rows.ts";
import { isWanted, queryOf, type LogSearch, type Span } from "./log-search.ts";

const PAGE_ROWS = 50;

export function useLog(search: LogSearch, span: Span, readAt: Date) {
  const query = useLogPages(search, span, readAt);
  const seen = useRef<Seen>(UNREAD);
  const { waiting, taken, outcomes, isGapped, tail, take, forget } = useTail(search, span, seen);
  const came = useRef(waiting);
  came.current = waiting;
  const read = useMemo(() => readRows(query.data?.pages ?? [], came.current), [query.data]);
  const rows = useMemo(() => merge(taken, read, outcomes), [taken, read, outcomes]);
  const shown = useMemo(() => new Set(rows.map(({ id }) => id)), [rows]);
  const isRead = query.data !== undefined;
  // A retry may be older than the last row that was read: it has its place on a later page, or on none.
  const oldest = query.hasNextPage ? (read.at(-1)?.id ?? "") : "";
  // Before the stream can tell more: the outcome of a row that has just come must find it awaited.
  useLayoutEffect(() => {
    const pending = new Set(rows.filter(({ status }) => status === "pending").map(({ id }) => id));
    seen.current = { isRead, shown, pending, oldest };
  }, [rows, shown, isRead, oldest]);
  const from = span.from.toISOString();
  const fresh = useMemo(
    () => waiting.filter(({ id, created_at: at }) => !shown.has(id) && id > oldest && at >= from),
    [waiting, shown, oldest, from],
  );
  return {
    query,
    rows,
    fresh,
    isGapped,
    tail,
    take,
    forget,
    searchedTo: query.data?.pages.at(-1)?.searchedTo ?? null,
  };
}

/** What the page has: whether its rows were read yet, which are shown, whose outcome is awaited, and the id behind which none is missed. */
type Seen = { isRead: boolean; shown: ReadonlySet<string>; pending: ReadonlySet<string>; oldest: string };
const UNREAD: Seen = { isRead: false, shown: new Set(), pending: new Set(), oldest: "" };

async function readPage(search: LogSearch, span: Span, before: string | null, signal: AbortSignal) {
  const params = {
    query: { ...queryOf(search, span), limit: PAGE_ROWS, ...(before !== null && { before }) },
  };
  const { data, response } = await api.GET("/api/deliveries", { signal, params });
  if (data === undefined) throw new ApiError(500, null);
  return { rows: data.deliveries, searchedTo: data.searched_to, next: pageOf(response, "before") };
}

function useLogPages(search: LogSearch, span: Span, readAt: Date) {
  return useInfiniteQuery({
    queryKey: ["deliveries", queryOf(search, span), readAt.getTime()],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }: { pageParam: string | null; signal: AbortSignal }) =>
      readPage(search, span, pageParam, signal),
    getNextPageParam: ({ next }) => next,
    // Comparing each page with all that were read before would take longer with each.
    structuralSharing: false,
    // Rows stay where they are: the tail says what is new.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    meta: { isStill: true },
  });
}

function useTail(search: LogSearch, span: Span, seen: RefObject<Seen>) {
  const [state, setState] = useState<Tail<Row>>(NOTHING);
  const [tail, setTail] = useState<TailState>("waiting");
  const { d: _open, ...filter } = search;
  const key = JSON.stringify(filter);
  const { endpoint } = search;
  const isLive = span.to === null;
  const latest = useRef({ search, span, waiting: state.waiting });
  latest.current = { search, span, waiting: state.waiting };
  useEffect(() => {
    setState(NOTHING);
    if (!isLive) return undefined;
    const wanted: LogSearch = JSON.parse(key);
    const onRow = (row: Row): void => {
      const { isRead, shown, pending, oldest } = seen.current;
      const isMissing = !isRead || (!shown.has(row.id) && row.id > oldest);
      setState((before) =>
        added(before, row, {
          isAwaited: pending.has(row.id),
          isWanted: isMissing && isWanted(row, wanted),
        }),
      );
    };
    const onGap = (): void => setState((before) => ({ ...before, isGapped: true }));
    /** What came before the stream was opened, and after the page was read. */
    const catchUp = async (signal: AbortSignal): Promise<void> => {
      const { rows, next } = await readPage(latest.current.search, latest.current.span, null, signal);
      const { isRead, shown } = seen.current;
      const known = new Set([...shown, ...latest.current.waiting.map(({ id }) => id)]);
      // A page that is not full ends where its search did, and has all that came.
      if (isRead && rows.length === PAGE_ROWS && next !== null && !rows.some(({ id }) => known.has(id)))
        return onGap();
      for (const row of rows.toReversed()) if (row.status !== "pending") onRow(row);
    };
    return watchLog(endpoint, {
      onRow,
      onGap,
      onOpen(signal) {
        if (wanted.q === undefined) catchUp(signal).catch(() => !signal.aborted && onGap());
      },
      onState: setTail,
    });
  }, [key, endpoint, isLive, seen]);
  const take = useCallback(
    (rows: readonly Row[]) =>
      setState((before) => ({
        ...before,
        taken: [...rows, ...before.taken],
        waiting: before.waiting.filter((row) => !rows.includes(row)),
      })),
    [],
  );
  /** The log is read anew, with all that came up to now. */
  const forget = useCallback(() => setState(NOTHING), []);
  return { ...state, tail, take, forget };
}
