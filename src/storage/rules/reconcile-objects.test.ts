import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { HeadAnswer } from "./ports.ts";
import { fromMs, toMs } from "./instants.ts";
import { buildObjectKey } from "./object-key.ts";
import { CONFIRM_MS, SETTLE_MS } from "./reconcile-judge.ts";
import { reconcileObjects } from "./reconcile-objects.ts";
import type { ListedObject, Mark, ReconcileMutation, ReconcileObjectsInput } from "./reconcile-types.ts";
import { objectState, type StoredObject } from "./stored-object.ts";

const NOW = "2026-03-10T12:00:00.000Z";
const TENANT = "00000000-0000-4000-8000-0000000000a1";
const RUN = "00000000-0000-4000-8000-0000000000e1";
const OLD_RUN = "00000000-0000-4000-8000-0000000000e0";
const SHA = "a".repeat(64);

/** What is really in the bucket, which a listing may get wrong. */
interface World {
  input: ReconcileObjectsInput;
  bytes: ReadonlyMap<string, HeadAnswer>;
}

const ago = fc
  .constantFrom(0, SETTLE_MS - 1, SETTLE_MS, CONFIRM_MS - 1, CONFIRM_MS, 10 * CONFIRM_MS)
  .map((milliseconds) => fromMs(toMs(NOW) - milliseconds));
const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

type Varied = Pick<StoredObject, "state" | "state_since" | "available_at" | "revision">;
const varied: fc.Arbitrary<Varied> = fc.record({
  state: fc.constantFrom(...objectState.options),
  state_since: ago,
  available_at: fc.option(ago, { nil: null }),
  revision: fc.integer({ min: 1, max: 9 }),
});
const size = fc.constantFrom(10, 10, 11);
const markClass = fc.constantFrom(
  "adoptable",
  "row_without_object",
  "object_without_row",
  "identity_mismatch",
);

function rowAt(index: number, given: Varied): StoredObject {
  const delivery_id = `00000000-0000-4000-8000-0000000000d${index}`;
  const kind = "export";
  return {
    id: `00000000-0000-4000-8000-0000000000c${index}`,
    tenant_id: TENANT,
    delivery_id,
    attempt: 1,
    kind,
    bucket: "artifacts-example",
    key: buildObjectKey({ tenant_id: TENANT, delivery_id, attempt: 1, kind }),
    version_id: "v-1",
    size: 10,
    etag: "etag-1",
    sha256: SHA,
    content_type: "application/zip",
    deadline: null,
    hold: false,
    ...given,
  };
}

function headOf(bytes: number): HeadAnswer {
  return {
    found: true,
    size: bytes,
    etag: "etag-1",
    version_id: "v-1",
    sha256: SHA,
    content_type: "application/zip",
    last_modified: NOW,
  };
}

/** What may be known of one key: each of row, listed object and mark may be absent. */
function place(index: number) {
  const row = varied.map((given) => rowAt(index, given));
  const { key } = rowAt(index, { state: "pending", state_since: NOW, available_at: null, revision: 1 });
  const object: fc.Arbitrary<ListedObject> = fc
    .tuple(size, ago)
    .map(([bytes, last_modified]) => ({ key, size: bytes, etag: "etag-1", last_modified }));
  const mark: fc.Arbitrary<Mark> = fc.record({
    key: fc.constant(key),
    class: markClass,
    first_seen_at: ago,
    run_id: fc.constantFrom(OLD_RUN, OLD_RUN, RUN),
  });
  const head: fc.Arbitrary<HeadAnswer> = fc.oneof(fc.constant({ found: false } as const), size.map(headOf));
  return fc.record({
    key: fc.constant(key),
    row: sometimes(row),
    object: sometimes(object),
    mark: sometimes(mark),
    head,
  });
}

const world: fc.Arbitrary<World> = fc.tuple(place(0), place(1), place(2), place(3)).map((places) => ({
  input: {
    run: { run_id: RUN, next_sequence: 1, batch_size: 10, max_destructive: 100 },
    now: NOW,
    bucket: "artifacts-example",
    after: null,
    rows: places.map(({ row }) => row).filter((row) => row !== undefined),
    rows_truncated: false,
    objects: places.map(({ object }) => object).filter((object) => object !== undefined),
    objects_truncated: false,
    marks: places.map(({ mark }) => mark).filter((mark) => mark !== undefined),
  },
  bytes: new Map(places.map(({ key, head }) => [key, head])),
}));

async function pass({ input, bytes }: World) {
  const head = async ({ key }: { key: string }) => bytes.get(key) ?? { found: false as const };
  return reconcileObjects(input, { storage: { head } });
}

function isDestructive(mutation: ReconcileMutation, rows: readonly StoredObject[]): boolean {
  if (mutation.target === "row") return mutation.to === "missing" || mutation.to === "quarantined";
  // Bytes of an expired row are purged by the deadline, not by suspicion.
  const isDue = rows.some(
    ({ key, state }) => "key" in mutation && key === mutation.key && state === "expired",
  );
  return mutation.target === "object" && !isDue;
}

/** The world after an adapter has applied the mutations. */
function apply({ input, bytes }: World, mutations: readonly ReconcileMutation[]): World {
  const rows = new Map(input.rows.map((row) => [row.id, row]));
  const objects = new Map(input.objects.map((object) => [object.key, object]));
  const marks = new Map(input.marks.map((mark) => [mark.key, mark]));
  const left = new Map(bytes);
  for (const mutation of mutations) {
    if (mutation.target === "row") {
      const row = rows.get(mutation.id);
      assert.ok(row !== undefined && row.state === mutation.from && row.revision === mutation.revision);
      rows.set(row.id, { ...row, state: mutation.to, state_since: NOW, revision: row.revision + 1 });
    } else if (mutation.target === "object") {
      objects.delete(mutation.key);
      left.set(mutation.key, { found: false });
    } else if (mutation.op === "delete") {
      assert.equal(marks.get(mutation.key)?.class, mutation.class);
      marks.delete(mutation.key);
    } else {
      const { key, class: markClass, first_seen_at } = mutation;
      assert.equal(marks.has(key), mutation.op === "update");
      const run_id = mutation.op === "insert" ? mutation.run_id : (marks.get(key)?.run_id ?? RUN);
      marks.set(key, { key, class: markClass, first_seen_at, run_id });
    }
  }
  return {
    input: { ...input, rows: [...rows.values()], objects: [...objects.values()], marks: [...marks.values()] },
    bytes: left,
  };
}

describe("reconcileObjects", () => {
  it("destroys nothing at first sight, whatever the page shows", async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const unmarked = { ...given, input: { ...given.input, marks: [] } };
        const { mutations } = await pass(unmarked);
        assert.ok(!mutations.some((mutation) => isDestructive(mutation, given.input.rows)));
      }),
    );
  });

  it("destroys nothing on a mark that is younger than 2 hours", async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const first_seen_at = fromMs(toMs(NOW) - CONFIRM_MS + 1);
        const marks = given.input.marks.map((mark) => ({ ...mark, first_seen_at }));
        const { mutations } = await pass({ ...given, input: { ...given.input, marks } });
        assert.ok(!mutations.some((mutation) => isDestructive(mutation, given.input.rows)));
      }),
    );
  });

  it("destroys nothing on a mark of the same run, however old", async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const marks = given.input.marks.map((mark) => ({ ...mark, run_id: RUN }));
        const { mutations } = await pass({ ...given, input: { ...given.input, marks } });
        assert.ok(!mutations.some((mutation) => isDestructive(mutation, given.input.rows)));
      }),
    );
  });

  it("leaves alone everything that was touched within 15 minutes", async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const recent = fromMs(toMs(NOW) - SETTLE_MS + 1);
        const rows = given.input.rows.map((row) => ({ ...row, state_since: recent }));
        const objects = given.input.objects.map((object) => ({ ...object, last_modified: recent }));
        const { output } = await pass({ ...given, input: { ...given.input, rows, objects } });
        const calm = new Set(["in_flight", "none", "recovered"]);
        assert.ok(output.decisions.every(({ decision }) => calm.has(decision)));
      }),
    );
  });

  it("comes to rest after two passes and reports no event of a key twice", async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const first = await pass(given);
        const afterFirst = apply(given, first.mutations);
        const second = await pass(afterFirst);
        const third = await pass(apply(afterFirst, second.mutations));
        assert.deepEqual(third.mutations, []);
        assert.deepEqual(third.output.events, []);
        const told = [...first.output.events, ...second.output.events].map(
          ({ type, key }) => `${type} ${key}`,
        );
        assert.equal(new Set(told).size, told.length);
      }),
    );
  });

  it("halts before it destroys more than is admitted", async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.integer({ min: 0, max: 3 }), async (given, max_destructive) => {
        const run = { ...given.input.run, max_destructive };
        const { output, mutations } = await pass({ ...given, input: { ...given.input, run } });
        const destroyed = mutations.filter((mutation) => isDestructive(mutation, given.input.rows)).length;
        assert.ok(destroyed <= max_destructive);
        if (output.code === "HALTED") assert.deepEqual([mutations, output.events], [[], []]);
      }),
    );
  });
});
