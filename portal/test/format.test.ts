/** Numbers, times and spans as a person reads them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadModule } from "./support/page.ts";

type Format = {
  percent: (share: number) => string;
  bytes: (count: number) => string;
  milliseconds: (ms: number) => string;
  span: (seconds: number) => string;
  dateTime: (at: Date) => string;
  clock: (at: Date) => string;
  ago: (at: Date, now: Date) => string;
};
type Display = { locale: "en" | "de"; theme: "system"; zone: "local" | "utc" };

async function formatOf(display: Display, languages: readonly string[]): Promise<Format> {
  type Module = { makeFormat: (display: Display) => Format };
  const { makeFormat } = await loadModule<Module>("display/format.ts", { languages });
  return makeFormat(display);
}

const english = await formatOf({ locale: "en", theme: "system", zone: "utc" }, ["fr-FR", "en-GB", "en-US"]);
const american = await formatOf({ locale: "en", theme: "system", zone: "utc" }, ["en-US"]);
const german = await formatOf({ locale: "de", theme: "system", zone: "local" }, ["en-GB"]);

describe("a number", () => {
  it("of percent is 0 or 100 only where all or none is meant", () => {
    assert.deepEqual([0, 0.0001, 0.5, 0.9994, 0.99999, 1].map(english.percent), [
      "0%",
      "0.1%",
      "50%",
      "99.9%",
      "99.9%",
      "100%",
    ]);
  });

  it("of bytes has a unit that fits, and one digit behind the point", () => {
    assert.deepEqual(
      [0, 999, 1000, 1449, 999_949, 999_950, 999_999, 1_000_000, 2_500_000_000, 4e12].map(english.bytes),
      ["0 B", "999 B", "1 kB", "1.4 kB", "999.9 kB", "1 MB", "1 MB", "1 MB", "2.5 GB", "4,000 GB"],
    );
    assert.equal(german.bytes(1449), "1,4 kB");
  });

  it("of milliseconds becomes one of seconds from a whole second on", () => {
    assert.deepEqual([0.4, 999, 1000, 1449].map(english.milliseconds), ["0 ms", "999 ms", "1 s", "1.4 s"]);
  });
});

describe("a span", () => {
  it("has its two greatest units, without one that is zero", () => {
    assert.deepEqual([-3, 0, 59.6, 3600, 7505, 90_061, 86_405].map(english.span), [
      "0 secs",
      "0 secs",
      "1 min",
      "1 hr",
      "2 hrs 5 mins",
      "1 day 1 hr",
      "1 day",
    ]);
  });
});

describe("a time", () => {
  const at = new Date("2026-03-01T00:05:09Z");

  it("says that it is of UTC, in the dates of the reader's own browser, and has 24 hours", () => {
    assert.equal(english.dateTime(at), "1 Mar 2026, 00:05:09 UTC");
    assert.equal(english.clock(at), "00:05:09");
    assert.equal(american.clock(at), "00:05:09");
    assert.doesNotMatch(german.dateTime(at), /UTC/);
  });

  it("of a day ago is counted, and of now is not", () => {
    const shown = [0, 200, 34 * 3600].map((seconds) =>
      english.ago(new Date(at.getTime() - seconds * 1000), at),
    );
    assert.deepEqual(shown, ["now", "3 min ago", "1 day ago"]);
  });
});
