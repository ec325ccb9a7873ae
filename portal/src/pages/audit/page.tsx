import { useInfiniteQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, ApiError, type Schemas } from "../../api/client.ts";
import { useFormat } from "../../display/format.ts";
import { useEndpointName, useEndpointNames, useUnknownName } from "../../endpoints/endpoint-names.ts";
import { useListKeys } from "../../shell/list-keys.ts";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Segments } from "../../ui/field.tsx";
import { focusTitle } from "../../ui/focus.ts";
import { Select } from "../../ui/select.tsx";
import { Empty, Failed, Loading, useIsLoading } from "../../ui/states.tsx";
import { pageOf } from "../../url/link.ts";
import { RANGES } from "../../url/range.ts";
import { ACTIONS, actionTexts } from "./action-texts.ts";
import { Details } from "./details.tsx";
import { queryOf } from "./audit-query.ts";
import { parseAuditSearch, type AuditSearch as Search } from "./audit-search.ts";
import { texts } from "./texts.ts";

type Entry = Schemas["AuditEntry"];

const route = getRouteApi("/audit");
export const page = createLazyRoute("/audit")({ component: AuditPage });

function AuditPage() {
  const t = useTexts(texts);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useEntries(search);
  const isLoading = useIsLoading(query.isPending);
  const entries = query.data?.pages.flatMap((one) => one.entries) ?? [];
  const isFiltered = Object.keys(search).length > 0;
  // An owner alone may read it: others see no filters of nothing.
  const isShown = query.error === null || query.data !== undefined;
  const clear = (): void => {
    focusTitle();
    void navigate({ search: {} });
  };
  return (
    <Page title={t.title} about={t.about}>
      {isShown && <Filters search={search} />}
      {isLoading ? (
        <Loading />
      ) : query.data === undefined ? (
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      ) : entries.length === 0 ? (
        <Empty
          icon="audit"
          title={isFiltered ? t.noneTitle : t.emptyTitle}
          {...(isFiltered && {
            action: <Button onClick={clear}>{t.clear}</Button>,
          })}
        >
          {isFiltered ? t.none : t.empty}
        </Empty>
      ) : (
        <Entries entries={entries} query={query} />
      )}
    </Page>
  );
}

function useEntries(search: Search) {
  const filter = useMemo(() => queryOf(search, Date.now()), [search]);
  return useInfiniteQuery({
    queryKey: ["audit", filter],
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }: { pageParam: string | null; signal: AbortSignal }) => {
      const params = { query: { ...filter, ...(pageParam !== null && { before: pageParam }) } };
      const { data, response } = await api.GET("/api/audit", { signal, params });
      if (data === undefined) throw new ApiError(500, null);
      return { entries: data.entries, next: pageOf(response, "before") };
    },
    getNextPageParam: ({ next }) => next,
  });
}

function Filters({ search }: { search: Search }) {
  const t = useTexts(texts);
  const names = useTexts(actionTexts);
  const endpoints = useEndpointNames();
  const unknownName = useUnknownName(t.deletedEndpoint);
  const navigate = route.useNavigate();
  const set = (change: Partial<Record<keyof Search, string | undefined>>): void =>
    void navigate({ search: (before) => parseAuditSearch({ ...before, ...change }), replace: true });
  const { action = "", endpoint = "", range = "all" } = search;
  return (
    <div className="mb-3 grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      <div className="col-span-2 max-w-full overflow-x-auto">
        <Segments
          label={t.time}
          value={range}
          options={[...RANGES, "all" as const].map((value) => ({ value, label: t.times[value] }))}
          onChoose={(value) =>
            set({ range: value === "all" ? undefined : value, from: undefined, to: undefined })
          }
        />
      </div>
      <Select label={t.action} value={action} onChange={(value) => set({ action: value })}>
        <option value="">{t.anyAction}</option>
        {ACTIONS.map((one) => (
          <option key={one} value={one}>
            {names[one]}
          </option>
        ))}
      </Select>
      <Select label={t.endpoint} value={endpoint} onChange={(value) => set({ endpoint: value })}>
        <option value="">{t.allEndpoints}</option>
        {endpoint !== "" && !endpoints.has(endpoint) && (
          <option value={endpoint}>{unknownName(endpoint)}</option>
        )}
        {[...endpoints].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
    </div>
  );
}

function Entries({ entries, query }: { entries: readonly Entry[]; query: ReturnType<typeof useEntries> }) {
  const t = useTexts(texts);
  const nameOf = useEndpointName(t.deletedEndpoint);
  const list = useListKeys();
  return (
    <div ref={list}>
      <ul
        aria-label={t.title}
        className="divide-y divide-line overflow-clip rounded-xl border border-line bg-surface"
      >
        {entries.map((entry) => (
          <EntryRow key={entry.id} entry={entry} nameOf={nameOf} />
        ))}
      </ul>
      <p className="p-4 text-center text-sm text-muted">
        {query.hasNextPage ? (
          <Button small isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t.more}
          </Button>
        ) : (
          t.end
        )}
      </p>
    </div>
  );
}

type EntryProps = { entry: Entry; nameOf: (endpointId: string) => string };

function EntryRow({ entry, nameOf }: EntryProps) {
  const t = useTexts(texts);
  const names = useTexts(actionTexts);
  const format = useFormat();
  const at = new Date(entry.at);
  const { sub, type } = entry.actor;
  const endpoint = entry.endpoint_id;
  return (
    <li>
      <details className="group">
        <summary
          data-row
          className="grid cursor-pointer grid-cols-[1fr_auto] items-baseline gap-x-4 gap-y-0.5 px-4 py-2.5 -outline-offset-2 hover:bg-hover md:grid-cols-[11rem_minmax(0,1fr)_minmax(0,14rem)_5.5rem]"
        >
          <time
            dateTime={entry.at}
            className="tabular order-2 text-sm text-muted md:order-none"
            title={format.dateTime(at)}
          >
            {format.day(at)}, {format.clock(at)}
          </time>
          <span className="min-w-0">
            <span className="font-medium">{names[entry.action]}</span>
            {endpoint !== null && (
              <span className="block truncate text-sm text-muted" translate="no">
                {nameOf(endpoint)}
              </span>
            )}
          </span>
          <span
            className="order-3 truncate text-right text-sm text-muted md:order-none md:text-left"
            translate="no"
          >
            <bdi>{sub === null || sub === "" ? t.actors[type] : sub}</bdi>
          </span>
          <span className="text-right">
            <Badge tone={entry.outcome === "done" ? "good" : "bad"}>{t.outcomes[entry.outcome]}</Badge>
          </span>
        </summary>
        <Details entry={entry} />
      </details>
    </li>
  );
}
