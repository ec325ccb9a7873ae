/** Keys of the page that is shown, and the help that lists them. */
import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { countOpenDialogs, useDialogDepth } from "../ui/dialog-depth.ts";

export type Shortcut = { key: string; about: string; run: () => void; isEverywhere?: boolean };

/** Held down they go on through a list. Another key acts once: `r` would send a delivery again and again. */
const REPEATED: ReadonlySet<string> = new Set(["j", "k"]);

/** `depth`: in so many dialogs. */
type Known = Shortcut & { depth: number };

let shortcuts: readonly Known[] = [];
const listeners = new Set<() => void>();

/**
 * Takes these keys while the component is shown, those of a page before those of everywhere.
 * While a dialog is open, those within it alone.
 * Not while a person types, but for `Ctrl+k` and the like, which Meta stands for too.
 */
export function useShortcuts(own: readonly Shortcut[]): void {
  const latest = useRef(own);
  latest.current = own;
  const depth = useDialogDepth();
  const keys = own.map(({ key, about }) => `${key} ${about}`).join("\n");
  // Who sees the component may press a key at once.
  useLayoutEffect(() => {
    const registered = latest.current.map(({ key, about, isEverywhere = false }, place) => ({
      key,
      about,
      isEverywhere,
      depth,
      run: () => latest.current[place]?.run(),
    }));
    change([...shortcuts, ...registered]);
    return () => change(shortcuts.filter((one) => !registered.some(({ run }) => run === one.run)));
  }, [keys, depth]);
}

export function useKnownShortcuts(): readonly Known[] {
  return useSyncExternalStore(subscribe, () => shortcuts);
}

/** Listens for all shortcuts; once, in the shell. */
export function useShortcutKeys(): void {
  useEffect(() => {
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function onKey(event: KeyboardEvent): void {
  if (event.altKey || event.defaultPrevented) return;
  const hasModifier = event.ctrlKey || event.metaKey;
  if (!hasModifier && isTyping(event.target)) return;
  const pressed = hasModifier ? `Ctrl+${event.key.toLowerCase()}` : event.key;
  const matching = shortcuts.filter(({ key, depth }) => key === pressed && depth >= countOpenDialogs());
  // What opened last is asked first.
  const found = matching.findLast(({ isEverywhere }) => isEverywhere !== true) ?? matching.at(-1);
  if (found === undefined) return;
  event.preventDefault();
  if (!event.repeat || REPEATED.has(found.key)) found.run();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox" && target.type !== "radio";
  return target.closest('[role="menu"],[role="listbox"]') !== null;
}

function change(next: readonly Known[]): void {
  shortcuts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
