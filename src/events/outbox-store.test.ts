import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { noticesOf } from "../../test/support/notices.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { WAKE_CHANNEL } from "../queue/channels.ts";
import { newEventId } from "../shared/id.ts";
import { addToOutbox, mirrorEventTypes } from "./outbox-store.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

it("SQL knows the types of the catalog as they are now: each part of one that changed, and none that left", async () => {
  const first = { type: "invoice.paid", newest: 2, needed: [1], others: [1] };
  const gone = { type: "invoice.sent", newest: 1, needed: [], others: [] };
  await mirrorEventTypes(database.pool, [first, gone]);
  for (const change of [{}, { newest: 3 }, { needed: [1, 2] }, { others: [1, 2, 4] }, { others: [] }]) {
    const changed = { ...first, ...change };
    await mirrorEventTypes(database.pool, [changed]);
    const { rows } = await database.pool.query(
      "SELECT type, newest, needed, others FROM postern.event_types",
    );
    assert.deepEqual(rows, [changed]);
  }
  // What is as it was is not written again, each time that a process starts.
  const written = async () => (await database.pool.query("SELECT xmin FROM postern.event_types")).rows;
  const before = await written();
  await mirrorEventTypes(database.pool, [{ ...first, others: [] }]);
  assert.deepEqual(await written(), before);
});

it("workers hear of what is in the outbox when it is committed, however it comes there", async () => {
  const { pool } = database;
  await mirrorEventTypes(pool, [{ type: "invoice.paid", newest: 1, needed: [], others: [] }]);
  const own = { id: newEventId(), tenantId: tenant("acme"), type: "invoice.paid", body: "{}" };
  for (const add of [
    () => addToOutbox(pool, [own, { ...own, id: newEventId() }]),
    () => pool.query("SELECT postern.publish('acme', 'invoice.paid', '{}')"),
  ]) {
    assert.deepEqual(await noticesOf(pool, add), [[WAKE_CHANNEL, ""]]);
  }
});
