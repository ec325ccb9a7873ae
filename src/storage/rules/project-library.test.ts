import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { projectLibrary, type LibraryCursor } from "./project-library.ts";
import type { StoredObject } from "./stored-object.ts";

const NOW = "2026-03-10T12:00:00.000Z";
const DAY = "2026-03-09T12:00:00.000Z";

function row(id: string, more: Partial<StoredObject> = {}): StoredObject {
  return {
    id,
    tenant_id: "acme",
    delivery_id: `delivery-${id}`,
    attempt: 1,
    kind: "request_body",
    bucket: "artifacts",
    key: id,
    version_id: "v",
    size: 7,
    etag: "e",
    sha256: "a".repeat(64),
    content_type: "application/json",
    state: "available",
    state_since: DAY,
    available_at: DAY,
    deadline: null,
    hold: false,
    revision: 3,
    ...more,
  };
}

function page(
  rows: StoredObject[],
  { after = null, limit = 10 }: { after?: LibraryCursor | null; limit?: number } = {},
) {
  const { output } = projectLibrary({ tenant_id: "acme", now: NOW, rows, after, limit });
  return { ids: output.items.map(({ id }) => id), next: output.next, output };
}

const at = (id: string) => ({ available_at: DAY, id });

describe("a page of the library", () => {
  const [a, b, c] = ["a", "b", "c"].map((id) => row(id));
  assert.ok(a !== undefined && b !== undefined && c !== undefined);

  it("is in one order, newest first and then by id, however its rows come", () => {
    const newer = row("z", { available_at: NOW });
    for (const rows of [
      [a, b, c, newer],
      [newer, c, b, a],
      [b, newer, a, c],
    ]) {
      assert.deepEqual(page(rows).ids, ["z", "a", "b", "c"]);
    }
  });

  it("goes on behind its cursor, and has a next where more remain", () => {
    assert.deepEqual(page([a, b, c], { limit: 2 }).next, at("b"));
    assert.equal(page([a, b, c], { limit: 3 }).next, null);
    assert.deepEqual(page([a, b, c], { after: at("a") }).ids, ["b", "c"]);
    assert.deepEqual(page([a, b, c], { after: at("c") }).ids, []);
    const newer = row("0", { available_at: NOW });
    assert.deepEqual(page([newer, a], { after: at("0") }).ids, ["a"]);
    assert.deepEqual(page([newer, a], { after: { available_at: NOW, id: "0" } }).ids, ["a"]);
  });

  it("shows of a delivery and kind the highest attempt, and of two of one attempt the lower id", () => {
    const of = (id: string, more: Partial<StoredObject>) => row(id, { delivery_id: "one", ...more });
    const [first, second] = [of("p", { attempt: 1 }), of("q", { attempt: 2 })];
    for (const rows of [
      [first, second],
      [second, first],
    ]) {
      assert.deepEqual(page(rows).ids, ["q"]);
    }
    const [lower, higher] = [of("l", {}), of("m", {})];
    for (const rows of [
      [lower, higher],
      [higher, lower],
    ]) {
      assert.deepEqual(page(rows).ids, ["l"]);
    }
    assert.deepEqual(page([lower, of("n", { kind: "response_body" }), row("o")]).ids, ["l", "n", "o"]);
  });

  it("hides what is not there yet, in quarantine or purged, and says of the rest how it stands", () => {
    const states = ["pending", "available", "missing", "quarantined", "expired", "purged"] as const;
    const rows = states.map((state) => row(state, { state }));
    const shown = page([...rows, row("never", { available_at: null })]).output.items;
    assert.deepEqual(
      shown.map(({ id, status, downloadable }) => [id, status, downloadable]),
      [
        ["available", "ready", true],
        ["expired", "expired", false],
        ["missing", "unavailable", false],
      ],
    );
    const ends = ["2026-03-11T12:00:00.001Z", "2026-03-11T12:00:00.000Z", NOW];
    const ending = page(ends.map((deadline, index) => row(`${index}`, { deadline }))).output.items;
    assert.deepEqual(
      ending.map(({ status, downloadable, expires_at }) => [status, downloadable, expires_at]),
      [
        ["ready", true, ends[0]],
        ["expiring", true, ends[1]],
        ["expired", false, ends[2]],
      ],
    );
    for (const [state, ...told] of [
      ["available", "ready", true],
      ["missing", "unavailable", false],
      ["expired", "expired", false],
    ] as const) {
      const [held] = page([row("held", { state, deadline: NOW, hold: true })]).output.items;
      assert.deepEqual([held?.status, held?.downloadable, held?.expires_at], [...told, null]);
    }
  });

  it("is none where one row is another tenant's", () => {
    const { output } = page([a, row("b", { tenant_id: "globex" })]);
    assert.deepEqual(output, { code: "TENANT_LEAK", items: [], next: null });
  });
});
