import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { noticesOf } from "../../../test/support/notices.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { EVENT_TYPE, LEASE_OWNER } from "../../../test/support/two-tenants.ts";
import { newEventId } from "../../shared/id.ts";
import { FETCH_CHANNEL, WAKE_CHANNEL } from "../channels.ts";
import { insertOnce, insertReplayed, removeReplayed } from "./once-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;
beforeEach(async () => {
  await sql("DELETE FROM postern.dispatches WHERE tenant_id = 'acme' AND NOT once");
});

const once = () => ({ eventId: seeded.acme.eventId, eventType: EVENT_TYPE, version: 2, attempt: 40_000 });

it("adds what a person asks for, held where its endpoint is pull or moves, and under the highest number at most", async () => {
  for (const [change, held] of [
    ["enabled = true", false],
    ["moving = true", true],
    ["moving = false, mode = 'pull'", true],
  ] as const) {
    await sql(`UPDATE postern.endpoints SET ${change}`);
    await sql("DELETE FROM postern.dispatches WHERE tenant_id = 'acme'");
    const heard = await noticesOf(seeded.pool, async () => {
      assert.ok((await insertOnce(seeded.pool, { ...seeded.acme, ...once() })) !== null);
    });
    assert.deepEqual(heard, [held ? [FETCH_CHANNEL, seeded.acme.endpointId] : [WAKE_CHANNEL, ""]], change);
    await insertReplayed(seeded.pool, {
      ...seeded.acme,
      events: [once(), { ...once(), eventId: newEventId(), attempt: 5 }],
    });
    const found = { attempt: 32_767, version: 2, once: true, held };
    assert.deepEqual(
      await sql(
        "SELECT attempt, version, once, held, parked FROM postern.dispatches WHERE tenant_id = 'acme' ORDER BY parked, attempt",
      ),
      [
        { ...found, parked: false },
        { ...found, attempt: 5, parked: true },
        { ...found, parked: true },
      ],
      change,
    );
  }
});

it("takes back of a replay what no worker has", async () => {
  await insertReplayed(seeded.pool, { ...seeded.acme, events: [once()] });
  await sql(
    "UPDATE postern.dispatches SET lease_owner = $1 WHERE tenant_id = 'acme' AND attempt = 2",
    LEASE_OWNER,
  );
  assert.equal(await removeReplayed(seeded.pool, seeded.acme), 1);
  assert.deepEqual(await sql("SELECT attempt FROM postern.dispatches WHERE tenant_id = 'acme'"), [
    { attempt: 2 },
  ]);
});
