import { Dialog } from "@base-ui/react/dialog";
import { Navigate, Outlet, useMatches, useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { useSessionState } from "../session/gate.tsx";
import { usePermissions, useSession } from "../session/permissions.ts";
import { useTexts } from "../texts/texts.ts";
import { Icon } from "../ui/icon.tsx";
import { DisplayMenu } from "./display-menu.tsx";
import { Navigation } from "./navigation.tsx";
import { NotFound } from "./not-found.tsx";
import { OutageBanner } from "./outage-banner.tsx";
import { ShortcutHelp } from "./shortcut-help.tsx";
import { useShortcutKeys, useShortcuts } from "./shortcuts.ts";
import { texts } from "./texts.ts";

const SearchDialog = lazy(() =>
  import("../search/search-dialog.tsx").then(({ SearchDialog }) => ({ default: SearchDialog })),
);

const SEARCH_KEYS = ["/", "Ctrl+k"];
const MAIN = "content";

export function Shell() {
  const t = useTexts(texts);
  const [hasHelp, setHasHelp] = useState(false);
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
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-md bg-accent px-3 py-1.5 text-on-accent focus:translate-y-0"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>("h1")?.focus();
        }}
      >
        {t.skip}
      </a>
      <div className="lg:grid lg:grid-cols-[14.5rem_minmax(0,1fr)]">
        <TopBar onShowShortcuts={showHelp} onSearch={search} />
        <Sidebar onShowShortcuts={showHelp} onSearch={search} />
        <main id={MAIN} className="min-w-0">
          <OutageBanner />
          <OwnPages />
        </main>
      </div>
      <ShortcutHelp isOpen={hasHelp} onClose={() => setHasHelp(false)} />
      {isSearching && (
        <Suspense>
          <SearchDialog onClose={() => setIsSearching(false)} />
        </Suspense>
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
        (begin ?? document.querySelector<HTMLElement>("h1"))?.focus({ preventScroll: true });
      }),
    [router],
  );
}

/** A session that asked for the other audience's data would be refused, and so end. */
function OwnPages() {
  const isOperator = useIsOperator();
  const audience = useMatches().at(-1)?.staticData.nav?.audience;
  if (isOperator && audience !== "operator") return <Navigate to="/tenants" replace />;
  return !isOperator && audience === "operator" ? <NotFound /> : <Outlet />;
}

function useIsOperator(): boolean {
  const state = useSessionState();
  return state.kind === "open" && state.claims.isOperator;
}

type BarProps = { onShowShortcuts: () => void; onSearch: () => void };

function Sidebar({ onShowShortcuts, onSearch }: BarProps) {
  const t = useTexts(texts);
  const isOperator = useIsOperator();
  return (
    <header className="sticky top-0 hidden h-dvh flex-col gap-4 overflow-y-auto border-r border-line bg-surface px-3 py-4 lg:flex">
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
  const [isOpen, setIsOpen] = useState(false);
  return (
    <header className="sticky top-0 z-30 flex items-center gap-2 border-b border-line bg-surface px-3 py-2 lg:hidden">
      <Dialog.Root open={isOpen} onOpenChange={setIsOpen}>
        <Dialog.Trigger
          aria-label={t.openNavigation}
          className="flex size-9 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
        >
          <Icon name="menu" className="size-5" />
        </Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Backdrop className="fixed inset-0 z-40 bg-[oklch(0.15_0.02_262/0.45)]" />
          <Dialog.Popup
            aria-label={t.navigation}
            className="fixed inset-y-0 left-0 z-40 w-72 max-w-[85vw] overflow-y-auto border-r border-line bg-surface px-3 py-4 outline-none"
          >
            <div className="mb-4">
              <Who />
            </div>
            <Navigation onChoose={() => setIsOpen(false)} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
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

/** Whose webhooks these are, and who looks at them. */
function Who() {
  const t = useTexts(texts);
  const isOperator = useIsOperator();
  const session = useSession();
  const { mayWrite } = usePermissions();
  const about = isOperator ? t.operator : mayWrite ? t.role(session?.role ?? "") : t.readOnly;
  return (
    <div className="flex items-center gap-2.5 px-2">
      <span
        aria-hidden
        className="flex size-8 shrink-0 items-center justify-center rounded-lg bg-accent font-semibold text-on-accent"
      >
        {(session?.tenant ?? t.product).slice(0, 1).toUpperCase()}
      </span>
      <div className="min-w-0 leading-tight">
        <p className="truncate font-semibold">{session?.tenant ?? t.product}</p>
        <p className="truncate text-xs text-muted">{about}&nbsp;</p>
      </div>
    </div>
  );
}
