/** How a person likes to see the portal: kept, read back, and taken as it is where it does not fit. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadModule } from "./support/page.ts";

const KEY = "postern.display";
const AT_FIRST = { locale: "en", theme: "system", zone: "local" };
let loads = 0;

/** As a page does that is opened in a browser with these choices in its storage. */
async function opened(kept: string | null, languages: readonly string[] = ["en-GB"]) {
  const storage = new Map(kept === null ? [] : [[KEY, kept]]);
  let isFull = false;
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    value: {
      getItem: (name: string) => storage.get(name) ?? null,
      setItem(name: string, value: string) {
        if (isFull) throw new Error("no storage");
        storage.set(name, value);
      },
    },
  });
  loads++;
  const { setDisplay } = await loadModule<{ setDisplay: (change: object) => void }>(
    `display/display.ts?${loads}`,
    { languages },
  );
  const page: { documentElement: { lang: string; dataset: object } } = Object(globalThis).document;
  return {
    setDisplay,
    shown: () => ({ lang: page.documentElement.lang, ...page.documentElement.dataset }),
    /** All choices, which a change writes together. */
    kept(): unknown {
      setDisplay({});
      return JSON.parse(storage.get(KEY) ?? "null");
    },
    fill: () => (isFull = true),
  };
}

describe("the display", () => {
  it("is at first in the first language of the browser that there is, and as the system is", async () => {
    for (const [languages, locale] of [
      [["fr-FR", "de-AT", "en"], "de"],
      [["en-US", "de"], "en"],
      [["fr"], "en"],
      [[], "en"],
    ] as const) {
      const page = await opened(null, languages);
      assert.deepEqual(page.shown(), { lang: locale });
      assert.deepEqual(page.kept(), { ...AT_FIRST, locale });
    }
  });

  it("is as it was chosen, one thing at a time, and in the next page too", async () => {
    const page = await opened(null);
    page.setDisplay({ locale: "de" });
    page.setDisplay({ theme: "dark" });
    page.setDisplay({ zone: "utc" });
    assert.deepEqual(page.shown(), { lang: "de", theme: "dark" });
    const chosen = { locale: "de", theme: "dark", zone: "utc" };
    assert.deepEqual(page.kept(), chosen);
    const next = await opened(JSON.stringify(chosen));
    assert.deepEqual(next.shown(), { lang: "de", theme: "dark" });
    assert.deepEqual(next.kept(), chosen);
    next.setDisplay({ theme: "system" });
    assert.deepEqual(next.shown(), { lang: "de" });
  });

  it("takes what does not fit as if it were not there", async () => {
    for (const kept of ["{", "null", "7", '{"locale":"fr","theme":"toString","zone":5}']) {
      const page = await opened(kept, ["de"]);
      assert.deepEqual(page.shown(), { lang: "de" }, kept);
      assert.deepEqual(page.kept(), { ...AT_FIRST, locale: "de" }, kept);
    }
    const page = await opened('{"locale":"fr","theme":"light"}');
    assert.deepEqual(page.kept(), { ...AT_FIRST, theme: "light" });
  });

  it("holds for this page where nothing can be kept", async () => {
    const page = await opened(null);
    page.fill();
    page.setDisplay({ locale: "de" });
    page.setDisplay({ theme: "light" });
    assert.deepEqual(page.shown(), { lang: "de", theme: "light" });
  });
});
