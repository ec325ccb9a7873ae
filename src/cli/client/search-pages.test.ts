import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import * as z from "zod";
import { captured } from "../../../test/support/command.ts";
import type { ApiClient } from "./api-client.ts";
import { searchPages } from "./search-pages.ts";

const wasTerminal = process.stderr.isTTY;
afterEach(() => {
  process.stderr.isTTY = wasTerminal;
});

/** An API whose first pages these are, and that fails behind them. */
function clientOf(pages: readonly { found: number[]; before: string | null }[]) {
  const asked: string[] = [];
  const api: ApiClient = {
    call: () => Promise.reject(new Error("a search only reads")),
    page: (path) => {
      const next = pages[asked.push(path) - 1];
      if (next === undefined) return Promise.reject(new Error("no answer"));
      return Promise.resolve({ text: JSON.stringify(next.found), before: next.before });
    },
  };
  return { api, asked };
}

const read = (text: string) => ({ found: z.array(z.number()).parse(JSON.parse(text)), searchedTo: null });

describe("a search through pages", () => {
  it("that fails while it says how far it is leaves the line to what is told next", async () => {
    const { api } = clientOf([{ found: [], before: "b" }]);
    process.stderr.isTTY = true;
    const { errors } = await captured(async () => {
      const search = searchPages(api, { path: "/x", query: new URLSearchParams(), limit: 3, read });
      await assert.rejects(Array.fromAsync(search), /no answer/);
    });
    assert.equal(errors, "\r\u001b[Ksearched back to b\n");
  });

  it("leaves the line to what it finds", async () => {
    const { api } = clientOf([
      { found: [], before: "b" },
      { found: [7], before: null },
    ]);
    process.stderr.isTTY = true;
    const { errors } = await captured(async () => {
      const search = searchPages(api, { path: "/x", query: new URLSearchParams(), limit: 3, read });
      for await (const id of search) process.stderr.write(`${id}\n`);
    });
    assert.equal(errors, "\r\u001b[Ksearched back to b\n7\n");
  });

  it("leaves the given query as it is, and asks no further than it was told to", async () => {
    const { api, asked } = clientOf([
      { found: [9, 8], before: "8" },
      { found: [7], before: "7" },
    ]);
    const stopping = new AbortController();
    const query = new URLSearchParams({ type: "a" });
    const found = [];
    for await (const id of searchPages(api, { path: "/x", query, limit: 5, read, signal: stopping.signal })) {
      found.push(id);
      if (id === 7) stopping.abort();
    }
    assert.deepEqual(found, [9, 8, 7]);
    assert.deepEqual(asked, ["/x?type=a&limit=5", "/x?type=a&limit=3&before=8"]);
    assert.equal(query.toString(), "type=a");
  });
});
