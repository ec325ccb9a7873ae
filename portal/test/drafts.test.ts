/** What is kept in a tab: what was typed. In a browser that refuses storage nothing is. */
import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { forgetDraft, forgetDrafts, keepDraft, readDraft } from "../src/session/drafts.ts";

/** As a browser's: its own enumerable properties are what is stored. */
class MemoryStorage {
  [key: string]: unknown;
  getItem(key: string): string | null {
    return Object.hasOwn(this, key) ? String(this[key]) : null;
  }
  setItem(key: string, value: string): void {
    this[key] = value;
  }
  removeItem(key: string): void {
    delete this[key];
  }
}

let storage: MemoryStorage;

const become = (get: () => unknown): void =>
  void Object.defineProperty(globalThis, "sessionStorage", { get, configurable: true });

beforeEach(() => {
  storage = new MemoryStorage();
  become(() => storage);
});

it("keeps a draft by its name until it is forgotten", () => {
  keepDraft("one", { url: "https://é.example/" });
  keepDraft("other", ["x"]);
  assert.deepEqual([readDraft("one"), readDraft("other")], [{ url: "https://é.example/" }, ["x"]]);
  forgetDraft("one");
  assert.deepEqual([readDraft("one"), readDraft("other")], [null, ["x"]]);
});

it("forgets every draft, and nothing else of the tab", () => {
  storage.setItem("postern.session", "kept");
  keepDraft("one", 1);
  keepDraft("other", 2);
  forgetDrafts();
  assert.deepEqual(Object.entries(storage), [["postern.session", "kept"]]);
});

it("reads none where what is stored is no JSON", () => {
  keepDraft("one", 1);
  for (const key of Object.keys(storage)) storage.setItem(key, "{");
  assert.equal(readDraft("one"), null);
});

it("keeps none where the browser refuses storage, as in a frame of another site", () => {
  become(() => {
    throw new Error("The operation is insecure.");
  });
  keepDraft("one", 1);
  forgetDraft("one");
  forgetDrafts();
  assert.equal(readDraft("one"), null);
});
