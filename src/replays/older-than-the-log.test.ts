/** What a replay takes for missed of events that outlived their days of the log. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Db } from "../database/pool.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { idAt, lowestIdAt, newEndpointId, parseEventId } from "../shared/id.ts";
import { groupAccepted, readCandidates } from "./candidate-store.ts";
import type { ReplaySelection } from "./replay.ts";

const DAY = 86_400_000;
const NOW = Date.now();

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => database.pool.query("DELETE FROM postern.events"));

const old = eventId(idAt(NOW - 3 * DAY));
const kept = eventId(idAt(NOW - DAY));
const filter = (selection: ReplaySelection) => ({
  tenantId: tenant("acme"),
  endpointId: newEndpointId(),
  to: new Date(NOW),
  selection,
});
const page = { after: eventId(lowestIdAt(NOW - 4 * DAY)), most: 9 };

function eventId(text: string) {
  const id = parseEventId(text);
  assert.ok(id !== null);
  return id;
}

async function accept(...ids: string[]): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
      SELECT 'acme', id, 'invoice.paid', '{}', 1 FROM unnest($1::uuid[]) AS id`,
    [ids],
  );
}

async function read(db: Db, selection: ReplaySelection): Promise<string[]> {
  const { candidates } = await readCandidates(db, filter(selection), page);
  return candidates.map((candidate) => candidate.eventId);
}

async function count(selection: ReplaySelection) {
  const { groups } = await groupAccepted(database.pool, filter(selection), page);
  return groups.map((group) => [group.count, group.first]);
}

describe("events of days that the log has dropped", () => {
  it("are never taken for missed, as nobody knows any more whether they were delivered", async () => {
    // The log has yesterday and later days, as a new database.
    await accept(old, kept);
    assert.deepEqual(await read(database.pool, "missed"), [kept]);
    assert.deepEqual(await read(database.pool, "all"), [old, kept]);
    assert.deepEqual(await count("missed"), [[1, kept]]);
    assert.deepEqual(await count("all"), [[2, old]]);
  });

  it("may be missed where the log has no days, so none was dropped", async () => {
    await accept(old);
    const client = await database.pool.connect();
    try {
      await client.query("BEGIN");
      const { rows } = await client.query<{ name: string }>(
        `SELECT inhrelid::regclass AS name FROM pg_inherits
          WHERE inhparent = 'postern.deliveries'::regclass AND inhrelid <> 'postern.deliveries_default'::regclass`,
      );
      for (const { name } of rows) await client.query(`DROP TABLE ${name}`);
      assert.deepEqual(await read(client, "missed"), [old]);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  });
});
