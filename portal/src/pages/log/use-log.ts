/**
 * The rows of the log: pages that were read, and deliveries that came since.
 * Rows stay where they are. What is new waits until the person takes it, but a
 * pending row that is shown gets its outcome in place.
 */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState, type RefObject } from "react";
import { api, ApiError } from "../../api/client.ts";
import { pageOf } from "../../url/link.ts";
import { watchLog, type Row, type TailState } from "./live-tail.ts";
import { isWanted, queryOf, type LogSearch, type Span } from "./log-search.ts";

const PAGE_ROWS = 50;
/** So many wait at most; then it is better to read the log anew. */
const MAX_WAITING = 1000;

export function useLog(search: LogSearch, span: Span) {
  const query = useLogPages(search, span);
  const pending = useRef<ReadonlySet<string>>(new Set());
  const { waiting, taken, outcomes, isGapped, tail, take } = useTail(search, span.to === null, pending);
  const came = useRef(waiting);
  came.current = waiting;
  const read = useMemo(() => readRows(query.data?.pages ?? [], came.current), [query.data]);
  const rows = useMemo(() => merge(taken, read, outcomes), [taken, read, outcomes]);
  const shown = useMemo(() => new Set(rows.map(({ id }) => id)), [rows]);
  useEffect(() => {
    pending.current = new Set(rows.filter(({ status }) => status === "pending").map(({ id }) => id));
  }, [rows]);
  const fresh = useMemo(() => waiting.filter(({ id }) => !shown.has(id)), [waiting, shown]);
  return {
    query,
    rows,
    fresh,
    isGapped,
    tail,
    take,
    searchedTo: query.data?.pages.at(-1)?.searchedTo ?? null,
  };
}

function useLogPages(search: LogSearch, span: Span) {
  const filter = queryOf(search, span);
  return useInfiniteQuery({
    queryKey: ["deliveries", filter],
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }: { pageParam: string | null; signal: AbortSignal }) => {
      const params = {
        query: { ...filter, limit: PAGE_ROWS, ...(pageParam !== null && { before: pageParam }) },
      };
      const { data, response } = await api.GET("/api/deliveries", { signal, params });
      if (data === undefined) throw new ApiError(500, null);
      return {
        rows: data.deliveries,
        searchedTo: data.searched_to,
        next: pageOf(response, "before"),
      };
    },
    getNextPageParam: ({ next }) => next,
    // Comparing each page with all that were read before would take longer with each.
    structuralSharing: false,
    // Rows stay where they are: the tail says what is new.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    meta: { isStill: true },
  });
}

/** `pending`: ids of the rows whose outcome is awaited. */
function useTail(search: LogSearch, isLive: boolean, pending: RefObject<ReadonlySet<string>>) {
  const [state, setState] = useState(NOTHING);
  const [tail, setTail] = useState<TailState>("waiting");
  const { d: _open, ...filter } = search;
  const key = JSON.stringify(filter);
  const { endpoint } = search;
  useEffect(() => {
    setState(NOTHING);
    if (!isLive) return undefined;
    const wanted: LogSearch = JSON.parse(key);
    return watchLog(endpoint, {
      onRow(row) {
        const isAwaited = pending.current.has(row.id);
        setState((before) => ({
          ...before,
          outcomes: isAwaited ? new Map(before.outcomes).set(row.id, row) : before.outcomes,
          waiting: isWanted(row, wanted) ? [row, ...before.waiting].slice(0, MAX_WAITING) : before.waiting,
        }));
      },
      onGap: () => setState((before) => ({ ...before, isGapped: true })),
      onState: setTail,
    });
  }, [key, endpoint, isLive, pending]);
  const take = useCallback(
    () =>
      setState((before) => ({
        ...before,
        taken: [...before.waiting, ...before.taken],
        waiting: [],
      })),
    [],
  );
  return { ...state, tail, take };
}

type Tail = {
  waiting: readonly Row[];
  taken: readonly Row[];
  outcomes: ReadonlyMap<string, Row>;
  isGapped: boolean;
};
const NOTHING: Tail = { waiting: [], taken: [], outcomes: new Map(), isGapped: false };

/** An outcome may come before the page on which its row is still pending. */
function readRows(pages: readonly { rows: readonly Row[] }[], came: readonly Row[]): Row[] {
  const outcomes = new Map(came.map((row) => [row.id, row]));
  return pages.flatMap(({ rows }) => settle(rows, outcomes));
}

function settle(rows: readonly Row[], outcomes: ReadonlyMap<string, Row>): Row[] {
  return rows.map((row) => (row.status === "pending" ? (outcomes.get(row.id) ?? row) : row));
}

/** Newest first, by id; a row with an outcome is shown with it. */
function merge(taken: readonly Row[], read: readonly Row[], outcomes: ReadonlyMap<string, Row>): Row[] {
  const known = new Set(read.map(({ id }) => id));
  const added = taken.filter(({ id }) => !known.has(id));
  const rows = settle(read, outcomes);
  if (added.length === 0) return rows;
  return [...added, ...rows].sort((one, other) => (one.id < other.id ? 1 : -1));
}
