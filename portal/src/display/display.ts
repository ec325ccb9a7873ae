/** How one person likes to see the portal: kept in this browser, read by every part. */
import { useSyncExternalStore } from "react";

export const LOCALES = ["en", "de"] as const;
export type Locale = (typeof LOCALES)[number];
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
export const ZONES = ["local", "utc"] as const;
export type Zone = (typeof ZONES)[number];

export type Display = Readonly<{ locale: Locale; theme: Theme; zone: Zone }>;

const KEY = "postern.display";
const listeners = new Set<() => void>();
let display: Display = read();
apply();

export function useDisplay(): Display {
  return useSyncExternalStore(subscribe, () => display);
}

export function setDisplay(change: Partial<Display>): void {
  display = { ...display, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(display));
  } catch {
    // A frame may have no storage: then it holds for this page alone.
  }
  apply();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function apply(): void {
  const { dataset } = document.documentElement;
  if (display.theme === "system") delete dataset["theme"];
  else dataset["theme"] = display.theme;
  document.documentElement.lang = display.locale;
}

function read(): Display {
  const stored = readStored();
  const language = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => isOneOf(LOCALES, tag));
  return {
    locale: pick(LOCALES, stored["locale"]) ?? pick(LOCALES, language) ?? "en",
    theme: pick(THEMES, stored["theme"]) ?? "system",
    zone: pick(ZONES, stored["zone"]) ?? "local",
  };
}

function readStored(): Record<string, unknown> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof stored === "object" && stored !== null ? { ...stored } : {};
  } catch {
    return {};
  }
}

function isOneOf<Value extends string>(values: readonly Value[], given: unknown): given is Value {
  return values.some((value) => value === given);
}

function pick<Value extends string>(values: readonly Value[], given: unknown): Value | undefined {
  return isOneOf(values, given) ? given : undefined;
}
