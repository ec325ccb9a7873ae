import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useRef, type RefObject } from "react";
import { endpointsQuery, endpointStatsQuery } from "../../api/queries.ts";
import { useFormat } from "../../display/format.ts";
import { usePermissions } from "../../session/permissions.ts";
import { Page } from "../../shell/page.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button, LinkButton } from "../../ui/button.tsx";
import { SearchInput, Segments } from "../../ui/field.tsx";
import { focusTitle } from "../../ui/focus.ts";
import { Empty, Failed, Loading, Unread } from "../../ui/states.tsx";
import { EndpointList } from "./endpoint-list.tsx";
import { isFound, isIn, withStats, type Listed, type StateFilter } from "./listed.ts";
import { texts } from "./texts.ts";

const route = getRouteApi("/endpoints");
export const page = createLazyRoute("/endpoints")({ component: EndpointsPage });

function EndpointsPage() {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const endpoints = useQuery(endpointsQuery);
  const stats = useQuery(endpointStatsQuery);
  const listed = useMemo(
    () => withStats(endpoints.data ?? [], stats.data?.endpoints ?? []),
    [endpoints.data, stats.data],
  );
  const filter = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  useShortcuts([
    { key: "f", about: t.focusFilter, run: () => filter.current?.focus() },
    ...(mayWrite ? [{ key: "n", about: t.new, run: () => void navigate({ to: "/endpoints/new" }) }] : []),
  ]);
  const add = mayWrite && (
    <LinkButton kind="primary" icon="plus" to="/endpoints/new">
      {t.add}
    </LinkButton>
  );
  return (
    <Page title={t.title} about={t.about} actions={add}>
      {endpoints.isPending ? (
        <Loading />
      ) : endpoints.data === undefined ? (
        <Failed error={endpoints.error} onRetry={() => void endpoints.refetch()} />
      ) : listed.length === 0 ? (
        <Empty icon="endpoints" title={t.emptyTitle} action={add}>
          {t.empty}
        </Empty>
      ) : (
        <Filtered listed={listed} stats={stats} filter={filter} />
      )}
    </Page>
  );
}

type Stats = Pick<UseQueryResult, "data" | "error" | "refetch">;
type FilteredProps = { listed: Listed[]; stats: Stats; filter: RefObject<HTMLInputElement | null> };

function Filtered({ listed, stats, filter }: FilteredProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const { q = "", state = "all" } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useMemo(
    () => listed.filter((one) => isFound(one, q) && isIn(one, state)),
    [listed, q, state],
  );
  const hasStats = stats.data !== undefined;
  const countOf = (wanted: StateFilter): string =>
    format.number(listed.filter((one) => isFound(one, q) && isIn(one, wanted)).length);
  const options = (["all", "enabled", "failing", "disabled"] as const).map((value) => ({
    value,
    label: t[value],
    count: hasStats || value !== "failing" ? countOf(value) : undefined,
  }));
  const set = (change: { q?: string; state?: StateFilter }): void => {
    const next = { q, state, ...change };
    const search: ReturnType<typeof route.useSearch> = {};
    if (next.q !== "") search.q = next.q;
    if (next.state !== "all") search.state = next.state;
    void navigate({ search, replace: true });
  };
  const showAll = (): void => {
    focusTitle();
    set({ q: "", state: "all" });
  };
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchInput
          ref={filter}
          label={t.filter}
          value={q}
          onChange={({ target }) => set({ q: target.value })}
          className="min-w-0 flex-1 basis-60 sm:max-w-sm"
        />
        <div className="max-w-full overflow-x-auto">
          <Segments
            label={t.states}
            value={state}
            options={options}
            onChoose={(value) => set({ state: value })}
          />
        </div>
      </div>
      {!hasStats && stats.error !== null && (
        <div className="mb-3">
          <Unread about={t.unread} error={stats.error} onRetry={() => void stats.refetch()} />
        </div>
      )}
      {listed.some((one) => one.state === null) && (
        <p className="mb-3 text-muted">
          {t.uncounted(format.number(listed.filter(({ stats }) => stats !== undefined).length))}
        </p>
      )}
      <p className="sr-only" role="status">
        {t.list(format.number(found.length), found.length)}
      </p>
      {state === "failing" && !hasStats ? (
        stats.error === null && <Loading />
      ) : found.length === 0 ? (
        <Empty icon="filter" title={t.noneTitle} action={<Button onClick={showAll}>{t.showAll}</Button>}>
          {t.none}
        </Empty>
      ) : (
        <EndpointList listed={found} hasStats={hasStats} />
      )}
    </>
  );
}
