import { Navigate, Outlet, useMatches, useRouter } from "@tanstack/react-router";
import { useDeferredValue, useEffect, useState } from "react";
import { useIsOperator } from "../session/permissions.ts";
import { useTexts } from "../texts/texts.ts";
import { Icon } from "../ui/icon.tsx";
import { LazyPopup } from "../ui/lazy-popup.tsx";
import { DisplayMenu } from "./display-menu.tsx";
import { Navigation } from "./navigation.tsx";
import { NotFound } from "./not-found.tsx";
import { OutageBanner } from "./outage-banner.tsx";
import { useShortcutKeys, useShortcuts } from "./shortcuts.ts";
import { texts } from "./texts.ts";
import { Who } from "./who.tsx";
import { focusTitle } from "../ui/focus.ts";
import { Part } from "../ui/part.tsx";
import { lazyPart } from "../ui/lazy-part.tsx";

const SearchDialog = lazyPart(() =>
  import("../search/search-dialog.tsx").then(({ SearchDialog }) => SearchDialog),
);

const NavigationDrawer = lazyPart(() =>
  import("./navigation-drawer.tsx").then(({ NavigationDrawer }) => NavigationDrawer),
);
const ShortcutHelp = lazyPart(() => import("./shortcut-help.tsx").then(({ ShortcutHelp }) => ShortcutHelp));

const SEARCH_KEYS = ["/", "Ctrl+k"];
const MAIN = "content";

export function Shell() {
  const t = useTexts(texts);
  /** Null until somebody first asks. */
  const [hasHelp, setHasHelp] = useState<boolean | null>(null);
  useShortcutKeys();
  const [isSearching, setIsSearching] = useState(false);
  const isOperator = useIsOperator();
  const search = (): void => setIsSearching(true);
  useShortcuts([
    { key: "?", about: t.help, run: () => setHasHelp(true), isEverywhere: true },
    ...(isOperator
      ? []
      : SEARCH_KEYS.map((key) => ({ key, about: t.search, run: search, isEverywhere: true }))),
  ]);
  useFocusOnNavigation();
  const showHelp = (): void => setHasHelp(true);
  return (
    <>
      <a
        href={`#${MAIN}`}
        className="fixed top-2 left-2 z-50 -translate-y-16 print:hidden rounded-md bg-accent px-3 py-1.5 text-on-accent focus:translate-y-0"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>("h1")?.focus();
        }}
      >
        {t.skip}
      </a>
      <div className="lg:grid lg:grid-cols-[14.5rem_minmax(0,1fr)] print:block">
        <TopBar onShowShortcuts={showHelp} onSearch={search} />
        <Sidebar onShowShortcuts={showHelp} onSearch={search} />
        <main id={MAIN} className="min-w-0">
          <OutageBanner />
          <OwnPages />
        </main>
      </div>
      {hasHelp !== null && (
        <Part>
          <ShortcutHelp isOpen={hasHelp} onClose={() => setHasHelp(false)} />
        </Part>
      )}
      {isSearching && (
        <Part>
          <SearchDialog onClose={() => setIsSearching(false)} />
        </Part>
      )}
    </>
  );
}

/** A change of page is heard: the new title has the focus. Filters of the same page leave the focus alone. */
function useFocusOnNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ pathChanged, fromLocation }) => {
        if (!pathChanged || fromLocation === undefined) return;
        const begin = document.querySelector<HTMLElement>("[data-begin]");
        if (begin === null) focusTitle();
        else begin.focus({ preventScroll: true });
      }),
    [router],
  );
}

/** A session that asked for the other audience's data would be refused, and so end. */
function OwnPages() {
  const isOperator = useIsOperator();
  const audience = useMatches().at(-1)?.staticData.nav?.audience;
  // The first page is made in small pieces, after the frame around it.
  const isFramed = useDeferredValue(true, false);
  if (!isFramed) return null;
  if (isOperator && audience !== "operator") return <Navigate to="/tenants" replace />;
  return !isOperator && audience === "operator" ? <NotFound /> : <Outlet />;
}

type BarProps = { onShowShortcuts: () => void; onSearch: () => void };

function Sidebar({ onShowShortcuts, onSearch }: BarProps) {
  const t = useTexts(texts);
  const isOperator = useIsOperator();
  return (
    <header className="sticky top-0 hidden h-dvh flex-col gap-4 overflow-y-auto border-r border-line bg-surface px-3 py-4 lg:flex print:hidden">
      <Who />
      {!isOperator && (
        <button
          type="button"
          onClick={onSearch}
          className="flex items-center gap-2.5 rounded-md border border-line bg-canvas px-2.5 py-1.5 text-muted hover:border-line-strong hover:text-ink"
        >
          <Icon name="search" />
          <span className="flex-1 text-left">{t.search}</span>
          <kbd aria-hidden className="font-mono text-xs">
            /
          </kbd>
        </button>
      )}
      <div className="flex-1">
        <Navigation />
      </div>
      <DisplayMenu isCompact={false} onShowShortcuts={onShowShortcuts} />
    </header>
  );
}

function TopBar({ onShowShortcuts, onSearch }: BarProps) {
  const t = useTexts(texts);
  const isOperator = useIsOperator();
  return (
    <header className="sticky top-0 z-30 flex items-center gap-2 border-b border-line bg-surface px-3 py-2 lg:hidden print:hidden">
      <LazyPopup
        kind="dialog"
        label={t.openNavigation}
        className="flex size-9 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
        render={(trigger) => <NavigationDrawer trigger={trigger} />}
      >
        <Icon name="menu" className="size-5" />
      </LazyPopup>
      <span className="flex-1 font-semibold">{t.product}</span>
      {!isOperator && (
        <button
          type="button"
          aria-label={t.search}
          onClick={onSearch}
          className="flex size-9 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
        >
          <Icon name="search" />
        </button>
      )}
      <DisplayMenu isCompact onShowShortcuts={onShowShortcuts} />
    </header>
  );
}
