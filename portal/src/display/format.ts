/** Numbers, times and spans in this person's language and time zone. */
import { useSyncExternalStore } from "react";
import { agoOf } from "./ago.ts";
import { useDisplay, type Display } from "./display.ts";

export type Format = ReturnType<typeof makeFormat>;

/** Made once for all, and each formatter when it is first needed: Intl takes its time to make one. */
let made: { display: Display; format: Format } | undefined;

export function useFormat(): Format {
  const display = useDisplay();
  if (made?.display !== display) made = { display, format: makeFormat(display) };
  return made.format;
}

const SIZES = ["B", "kB", "MB", "GB"] as const;

export function makeFormat({ locale, zone }: Display) {
  const timeZone = zone === "utc" ? { timeZone: "UTC" } : {};
  // A German or British reader of the English texts expects their own browser's dates.
  const tag = navigator.languages.find((one) => one.startsWith(locale)) ?? locale;
  const number = once(() => new Intl.NumberFormat(tag));
  const compact = once(() => new Intl.NumberFormat(tag, { notation: "compact", maximumFractionDigits: 1 }));
  const percent = once(() => new Intl.NumberFormat(tag, { style: "percent", maximumFractionDigits: 1 }));
  const relative = once(() => new Intl.RelativeTimeFormat(tag, { numeric: "auto", style: "short" }));
  const counted = once(() => new Intl.RelativeTimeFormat(tag, { numeric: "always", style: "short" }));
  const times = (parts: Intl.DateTimeFormatOptions): (() => Intl.DateTimeFormat) =>
    once(() => new Intl.DateTimeFormat(tag, { ...parts, hourCycle: "h23", ...timeZone }));
  const dateTime = times({ dateStyle: "medium", timeStyle: "medium" });
  const date = times({ dateStyle: "medium" });
  const shortDate = times({ day: "numeric", month: "short" });
  const fullDate = times({ day: "numeric", month: "short", year: "numeric" });
  const yearOf = (at: Date): number => (zone === "utc" ? at.getUTCFullYear() : at.getFullYear());
  const clock = times({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const shortClock = times({ hour: "2-digit", minute: "2-digit" });
  return {
    number: (value: number) => number().format(value),
    compact: (value: number) => compact().format(value),
    /** Never rounded to 100 % or 0 % that it is not. */
    percent(share: number) {
      const shown = share > 0.999 && share < 1 ? 0.999 : share > 0 && share < 0.001 ? 0.001 : share;
      return percent().format(shown);
    },
    bytes(count: number) {
      const inUnit = (power: number): number => Math.round((count / 1000 ** power) * 10) / 10;
      let power = 0;
      // By what is shown: 999,999 bytes are rounded to 1 MB, not to 1,000 kB.
      while (power < SIZES.length - 1 && inUnit(power) >= 1000) power++;
      return `${number().format(inUnit(power))} ${SIZES[power]}`;
    },
    dateTime: (at: Date) => `${dateTime().format(at)}${zone === "utc" ? " UTC" : ""}`,
    date: (at: Date) => date().format(at),
    shortDate: (at: Date) => shortDate().format(at),
    /** With its year where that is not this one. */
    day: (at: Date) => (yearOf(at) === yearOf(new Date()) ? shortDate() : fullDate()).format(at),
    clock: (at: Date) => clock().format(at),
    shortClock: (at: Date) => shortClock().format(at),
    milliseconds: (ms: number) =>
      ms < 1000 ? `${number().format(Math.round(ms))} ms` : `${number().format(Math.round(ms / 100) / 10)} s`,
    /** A length of time by its two greatest units, for example "2 hr 5 min". */
    span: (seconds: number) => span(tag, seconds, "short"),
    /** How long one waits, never too short: for example "1 hour", "2 minutes" for 61 seconds. */
    wait: (seconds: number) =>
      span(tag, seconds > MINUTE_S ? Math.ceil(seconds / MINUTE_S) * MINUTE_S : seconds, "long"),
    /** For example "3 min. ago". */
    ago(at: Date, now: Date) {
      const [count, unit] = agoOf((at.getTime() - now.getTime()) / 1000);
      // "Yesterday" would be wrong of 34 hours ago on some mornings.
      return (unit === "day" ? counted() : relative()).format(count, unit);
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function span(tag: string, seconds: number, unitDisplay: "short" | "long"): string {
  return spanParts(Math.max(0, Math.round(seconds)))
    .map(([unit, count]) => new Intl.NumberFormat(tag, { style: "unit", unit, unitDisplay }).format(count))
    .join(" ");
}

const MINUTE_S = 60;
const SPANS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", MINUTE_S],
  ["second", 1],
] as const;

function spanParts(seconds: number): [unit: string, count: number][] {
  const first = SPANS.findIndex(([, length]) => seconds >= length);
  if (first === -1) return [["second", 0]];
  let rest = seconds;
  return SPANS.slice(first, first + 2).flatMap(([unit, length]): [string, number][] => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return count === 0 ? [] : [[unit, count]];
  });
}

const TICK_MS = 10_000;
let now = new Date();
const tickers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The time, a little behind: it moves every ten seconds, for all who ask together. */
export function useNow(): Date {
  return useSyncExternalStore(subscribeNow, () => now);
}

function subscribeNow(listener: () => void): () => void {
  tickers.add(listener);
  if (timer === undefined) {
    // It stood still while no part asked for it.
    now = new Date();
    timer = setInterval(() => {
      now = new Date();
      for (const ticker of tickers) ticker();
    }, TICK_MS);
  }
  return () => {
    tickers.delete(listener);
    if (tickers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
