import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { inTransaction } from "../../database/transaction.ts";
import { newDeliveryId } from "../../shared/id.ts";
import { insertPendingObject } from "../rows/stored-object-store.ts";
import { moveState } from "../rules/mutations.ts";
import type { Decision, KeyClass } from "../rules/reconcile-types.ts";
import { countDestruction, destructionOf, digestOf } from "./destruction.ts";
import { addBucket } from "./owner-store.ts";

const decide = (key: string, keyClass: KeyClass, decision: Decision) => ({
  key,
  class: keyClass,
  decision,
});
const deleted = (key: string) =>
  ({ op: "delete", target: "object", bucket: "artifacts", key, version_id: `v-${key}` }) as const;

describe("what of a page destroys something", () => {
  it("is each loss, and each object without a row with the version that goes", () => {
    const decisions = [
      decide("a", "row_without_object", "missing"),
      decide("b", "identity_mismatch", "quarantined"),
      decide("c", "object_without_row", "purge"),
      decide("d", "object_without_row", "suspect"),
      decide("e", "purge_due", "purge"),
      decide("f", "purged_due", "purged"),
      decide("g", "healable", "healed"),
      decide("h", "object_without_row", "purge"),
    ];
    const output = {
      code: "OK",
      decisions,
      events: [],
      next_cursor: null,
      pass_complete: true,
      next_sequence: 1,
    } as const;
    const mutations = [
      moveState({ id: "0", state: "available", revision: 1 }, "missing"),
      deleted("c"),
      deleted("e"),
    ];
    assert.deepEqual(destructionOf({ output: { ...output, events: [] }, mutations }), [
      "missing a",
      "quarantined b",
      "purge c v-c",
      "purge h ",
    ]);
  });

  it("is identified by all of it, in any order", () => {
    const digest = digestOf(["missing a", "purge c v-c"]);
    assert.equal(digest, digestOf(["purge c v-c", "missing a"]));
    assert.match(digest, /^[0-9a-f]{64}$/);
    const others = [
      [],
      ["missing a"],
      ["missing a", "purge c v-d"],
      ["missing a", "purge c v-c", "missing a"],
    ];
    assert.equal(new Set([digest, ...others.map(digestOf)]).size, 5);
    assert.notEqual(digestOf(["missing a", "missing b"]), digestOf(["missing amissing b"]));
  });
});

describe("the bounds on what comparing destroys", () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** A bucket with so many rows, of which as many more are purged. */
  async function bucketOf(rows: number): Promise<string> {
    const bucket = `bucket-${randomUUID()}`;
    await addBucket(database.pool, bucket);
    for (let n = 0; n < Math.min(rows, 1); n++) {
      const of = { tenantId: tenant("acme"), id: randomUUID(), deliveryId: newDeliveryId(), attempt: 1 };
      await insertPendingObject(database.pool, {
        ...of,
        kind: "request_body",
        bucket,
        size: 1,
        sha256: "a".repeat(64),
      });
    }
    await database.pool.query(
      `INSERT INTO postern.stored_objects
        SELECT (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'delivery_id', gen_random_uuid(),
          'key', o.key || n, 'state', CASE WHEN n < $2 THEN 'pending' ELSE 'purged' END,
          'version_id', 'v', 'etag', 'e'))).*
        FROM postern.stored_objects o, generate_series(1, 2 * $2 - 1) n WHERE o.bucket = $1`,
      [bucket, rows],
    );
    return bucket;
  }

  /** Destroys so many, a page after the other; answers what stopped it, if anything did. */
  async function destroy(bucket: string, runId: string, ...pages: number[]): Promise<string | null> {
    for (const number of pages) {
      try {
        await inTransaction(database.pool, (transaction) =>
          countDestruction(transaction, bucket, { runId, number }),
        );
      } catch (error) {
        assert.ok(error instanceof Error && error.name === "DestructionBoundError");
        return error.message;
      }
    }
    return null;
  }

  it("let a pass destroy a quarter of what is known, and five where that is less", async () => {
    const [few, some] = [await bucketOf(3), await bucketOf(43)];
    assert.equal(await destroy(few, randomUUID(), 5), null);
    assert.equal(
      await destroy(await bucketOf(3), randomUUID(), 6),
      "the pass would destroy 6 artifacts, and of 3 known ones 5 are allowed",
    );
    const run = randomUUID();
    assert.equal(await destroy(some, run, 10), null);
    assert.equal(
      await destroy(some, run, 1),
      "the pass would destroy 11 artifacts, and of 43 known ones 10 are allowed",
    );
  });

  it("let all passes of a day destroy half of it, and ten where that is less", async () => {
    const few = await bucketOf(3);
    assert.equal(await destroy(few, randomUUID(), 5), null);
    assert.equal(await destroy(few, randomUUID(), 5), null);
    assert.equal(
      await destroy(few, randomUUID(), 1),
      "24 hours would destroy 11 artifacts, and of 3 known ones 10 are allowed",
    );
  });

  it("let a page destroy 20, a pass 100 and a day 200, however much is known", async () => {
    const many = await bucketOf(500);
    const [first, second] = [randomUUID(), randomUUID()];
    assert.equal(await destroy(many, first, 21), "a page would destroy 21 artifacts, and 20 are allowed");
    assert.equal(await destroy(many, first, 20, 20, 20, 20, 20), null);
    assert.match((await destroy(many, first, 1)) ?? "", /^the pass would destroy 101 .* 100 are allowed$/);
    assert.equal(await destroy(many, second, 20, 20, 20, 20, 20), null);
    assert.match(
      (await destroy(many, randomUUID(), 1)) ?? "",
      /^24 hours would destroy 201 .* 200 are allowed$/,
    );
    // Nothing is nothing, also beyond the bounds.
    assert.equal(await destroy(many, first, 0), null);
  });
});
