import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { askAll, findTwice, mergeCounts, mergeReports, mergeTenants } from "./merge.ts";

const ready = { reasons: [], warnings: [] };
const away = { reasons: ["the database cannot be reached"], warnings: [] };

describe("mergeReports", () => {
  it("is ready while any shard is, and names the others in warnings", () => {
    const merged = mergeReports([
      { name: "eu1", report: { reasons: [], warnings: ["full"] } },
      { name: "eu2", report: away },
    ]);
    assert.deepEqual(merged, {
      reasons: [],
      warnings: ["shard eu2: the database cannot be reached", "shard eu1: full"],
    });
  });

  it("says once what all say", () => {
    const merged = mergeReports([
      { name: "eu1", report: away },
      { name: "eu2", report: away },
    ]);
    assert.deepEqual(merged, away);
    assert.deepEqual(mergeReports([{ name: "eu1", report: ready }]), ready);
  });
});

describe("mergeTenants", () => {
  it("orders by the bytes of ids, up to the limit", () => {
    const pages = [
      ["B", "a"].map((id) => ({ id, shard: "eu1" })),
      ["A", "_"].map((id) => ({ id, shard: "eu2" })),
    ];
    assert.deepEqual(
      mergeTenants(pages, { limit: 3, homes: new Map() }).map(({ id }) => id),
      ["A", "B", "_"],
    );
  });

  it("has a tenant that is being moved once, as it is at its home", () => {
    const pages = ["eu1", "eu2"].map((shard) => ["acme", "globex"].map((id) => ({ id, shard })));
    const ids = pages.flat().map(({ id }) => id);
    assert.deepEqual(findTwice([...ids, "initech"]), ["acme", "globex"]);
    const homes = new Map([
      ["acme", "eu2"],
      ["globex", "eu1"],
    ]);
    assert.deepEqual(mergeTenants(pages, { limit: 9, homes }), [
      { id: "acme", shard: "eu2" },
      { id: "globex", shard: "eu1" },
    ]);
  });
});

const unknown = new Error("unknown");
const isUnknown = (error: unknown): boolean => error === unknown;
const ask = (answer: string | Error) =>
  answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);

describe("askAll", () => {
  it("answers the one that knows it, and otherwise the error that says more", async () => {
    assert.equal(await askAll([unknown, "found", new Error("away")], ask, isUnknown), "found");
    await assert.rejects(askAll([unknown, new Error("away")], ask, isUnknown), /away/);
    await assert.rejects(askAll([unknown, unknown], ask, isUnknown), /unknown/);
  });
});

describe("mergeCounts", () => {
  it("adds up rows by table and holds, and is capped where one is", () => {
    const one = {
      rows: new Map([
        ["events", 2],
        ["outbox", 1],
      ]),
      isCapped: false,
      held: 1,
    };
    const other = {
      rows: new Map([
        ["events", 3],
        ["handovers", 4],
      ]),
      isCapped: true,
      held: 2,
    };
    assert.deepEqual(mergeCounts([one, other]), {
      rows: new Map([
        ["events", 5],
        ["outbox", 1],
        ["handovers", 4],
      ]),
      isCapped: true,
      held: 3,
    });
  });
});
