import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import type { EventType } from "../../api/client.ts";
import { eventTypesQuery } from "../../api/queries.ts";
import { useFormat } from "../../display/format.ts";
import { newestOf, versionedName } from "../../endpoints/subscription.ts";
import { BackLink } from "../../shell/back-link.tsx";
import { Page } from "../../shell/page.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { useTexts } from "../../texts/texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { SearchInput } from "../../ui/field.tsx";
import { focusTitle } from "../../ui/focus.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { EventEntry } from "./event-entry.tsx";
import type { Listed } from "./listed.ts";
import { texts } from "./texts.ts";

const route = getRouteApi("/events");
export const page = createLazyRoute("/events")({ component: EventsPage });

function EventsPage() {
  const t = useTexts(texts);
  const { data, error, refetch } = useQuery(eventTypesQuery);
  const listed = useMemo(() => listedOf(data ?? []), [data]);
  return (
    <Page title={t.title} about={t.about}>
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <Failed error={error} onRetry={() => void refetch()} />
        )
      ) : listed.length === 0 ? (
        <Empty icon="catalog" title={t.emptyTitle}>
          {t.empty}
        </Empty>
      ) : (
        <Catalog listed={listed} />
      )}
    </Page>
  );
}

function Catalog({ listed }: { listed: readonly Listed[] }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { q = "", type: wanted, view = "example" } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useRef<HTMLInputElement>(null);
  const found = useMemo(() => listed.filter((one) => isFound(one, q)), [listed, q]);
  const chosen = entryOf(listed, wanted) ?? (wanted === undefined ? firstOf(found) : null);
  const choose = (type: string | undefined): void =>
    void navigate({
      search: ({ type: _former, ...rest }) => (type === undefined ? rest : { ...rest, type }),
      replace: true,
    });
  const search = (text: string): void =>
    void navigate({
      search: ({ q: _former, ...rest }) => (text === "" ? rest : { ...rest, q: text }),
      replace: true,
    });
  const showAll = (): void => {
    focusTitle();
    search("");
  };
  const move = (step: number): void => {
    const at = found.findIndex(({ type }) => type === chosen?.listed.type);
    const next = found[Math.max(0, Math.min(found.length - 1, at + step))];
    if (next !== undefined) choose(next.type);
  };
  useShortcuts([
    { key: "f", about: t.focusSearch, run: () => filter.current?.focus() },
    { key: "j", about: t.next, run: () => move(1) },
    { key: "k", about: t.previous, run: () => move(-1) },
  ]);
  const isOpen = wanted !== undefined;
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]">
      <div className={`min-w-0 lg:sticky lg:top-7 ${isOpen ? "hidden lg:block" : ""}`}>
        <SearchInput
          ref={filter}
          label={t.search}
          value={q}
          onChange={({ target }) => search(target.value)}
          className="mb-3"
        />
        <p className="sr-only" role="status">
          {t.found(format.number(found.length), found.length)}
        </p>
        {found.length === 0 ? (
          <Empty icon="filter" title={t.noneTitle} action={<Button onClick={showAll}>{t.all}</Button>} />
        ) : (
          <Groups found={found} chosen={chosen?.listed.type} />
        )}
      </div>
      <div className={`min-w-0 ${isOpen ? "" : "hidden lg:block"}`}>
        {isOpen && (
          <div className="lg:hidden">
            <BackLink to="/events" search={q === "" ? {} : { q }}>
              {t.title}
            </BackLink>
          </div>
        )}
        {chosen === null ? (
          isOpen && (
            <Empty icon="search" title={t.unknownTitle}>
              {t.unknown}
            </Empty>
          )
        ) : (
          <EventEntry
            key={`${chosen.entry.type}@${chosen.entry.version}`}
            listed={chosen.listed}
            entry={chosen.entry}
            view={view}
            onVersion={(entry) => choose(versionedName(entry, chosen.listed.versions))}
            onView={(next) =>
              void navigate({ search: (before) => ({ ...before, view: next }), replace: true })
            }
          />
        )}
      </div>
    </div>
  );
}

function Groups({ found, chosen }: { found: readonly Listed[]; chosen: string | undefined }) {
  return (
    <nav
      aria-label={useTexts(texts).list}
      className="overflow-y-auto rounded-xl border border-line bg-surface lg:max-h-[calc(100dvh-10rem)]"
    >
      {[...Map.groupBy(found, ({ newest }) => newest.group)].map(([group, members]) => (
        <section key={group} aria-label={group}>
          <h2 className="sticky top-0 z-10 border-y border-line bg-sunken px-3 py-1 text-xs font-medium wrap-anywhere text-muted">
            {group}
          </h2>
          <ul>
            {members.map((one) => (
              <li key={one.type}>
                <TypeLink listed={one} isChosen={one.type === chosen} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function TypeLink({ listed: { type, newest }, isChosen }: { listed: Listed; isChosen: boolean }) {
  const t = useTexts(texts);
  return (
    <Link
      from="/events"
      to="/events"
      search={(before) => ({ ...before, type })}
      aria-current={isChosen ? "true" : undefined}
      className={`block px-3 py-2 -outline-offset-2 hover:bg-hover ${isChosen ? "lg:bg-accent-soft" : ""}`}
    >
      <span className="flex flex-wrap items-baseline gap-x-2">
        <code translate="no" className="min-w-0 font-mono text-sm wrap-anywhere">
          {type}
        </code>
        {newest.deprecated && <Badge tone="wait">{t.deprecated}</Badge>}
        {newest.preview && <Badge tone="accent">{t.preview}</Badge>}
      </span>
      <span className="block text-sm wrap-anywhere text-muted">{newest.title}</span>
    </Link>
  );
}

function listedOf(entries: readonly EventType[]): Listed[] {
  return [...Map.groupBy(entries, ({ type }) => type)].flatMap(([type, versions]) => {
    const sorted = versions.toSorted((one, other) => other.version - one.version);
    const newest = newestOf(sorted) ?? sorted[0];
    return newest === undefined ? [] : [{ type, newest, versions: sorted }];
  });
}

function isFound({ versions }: Listed, q: string): boolean {
  const part = q.trim().toLowerCase();
  return versions.some(({ type, title, description, group }) =>
    [type, title, description, group].some((text) => text.toLowerCase().includes(part)),
  );
}

type Chosen = { listed: Listed; entry: EventType };

function entryOf(listed: readonly Listed[], wanted: string | undefined): Chosen | null {
  const [type, version] = wanted?.split("@") ?? [];
  const one = listed.find((other) => other.type === type);
  if (one === undefined) return null;
  const entry =
    version === undefined ? one.newest : one.versions.find((other) => other.version === Number(version));
  return entry === undefined ? null : { listed: one, entry };
}

function firstOf(found: readonly Listed[]): Chosen | null {
  const first = found[0];
  return first === undefined ? null : { listed: first, entry: first.newest };
}
