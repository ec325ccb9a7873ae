/** A burst whose bodies are kept, while the program is killed: each logged attempt's body is stored in the end. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram } from "./support/program.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const KILLS = 3;
const EVENTS_A_KILL = 120;
/** So many of them are answered before the kill, which so is amid the work on any machine. */
const ANSWERED = 60;

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
let answers = Infinity;
let killed = Promise.withResolvers<void>();

before(async () => {
  database = await createTestDatabase();
  // Longer than the log keeps.
  receiver = await startReceiver({
    async respond() {
      if (answers-- <= 0) await killed.promise;
      return { status: 200, body: "é".repeat(1500) };
    },
  });
  // A kill or a busy machine fails attempts; none may be due only minutes later.
  const schedule = Array.from({ length: 10 }, () => "1s").join(",");
  env = { ...(await sharedSettings(database.url, receiver.caPem)), RETRY_SCHEDULE: `0s,${schedule}` };
});
after(async () => {
  killed.resolve();
  await receiver.close();
  await database.drop();
});

async function count(sql: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${sql}`);
  return rows[0]?.count ?? 0;
}

/**
 * Waits until the table is empty. Each wait's limit is for some rows less: how
 * long hundreds of files take to be written is the machine's affair.
 */
async function drained(table: string): Promise<void> {
  let left = await count(table);
  while (left > 0) {
    const before = left;
    const found = await eventually(async () => {
      const now = await count(table);
      return now < before && { now };
    });
    left = found.now;
  }
}

it("loses no body of a logged attempt in kills amid a burst", async () => {
  for (let kill = 0; kill <= KILLS; kill++) {
    const program = await startProgram(["up"], env);
    if (kill === 0) {
      const json = { keep_request_bodies: true, keep_response_bodies: true, artifact_days: null };
      assert.equal((await program.call("PUT", "/api/storage/settings", { json })).status, 200);
      const endpoint = { url: receiver.url, events: ["*"] };
      assert.equal((await program.call("POST", "/api/webhooks", { json: endpoint })).status, 201);
    }
    if (kill === KILLS) {
      await drained("postern.dispatches");
      await drained("postern.bodies_to_keep");
      await program.end("SIGTERM");
      break;
    }
    const events = Array.from({ length: EVENTS_A_KILL }, (_, n) => ({
      type: "invoice.paid",
      data: { kill, n },
    }));
    killed = Promise.withResolvers();
    answers = ANSWERED;
    assert.equal((await program.call("POST", "/api/events", { as: PRODUCER, json: events })).status, 202);
    // Amid the work: some are stored, some noted, some under way.
    const before = await count("postern.stored_objects");
    await eventually(async () => (await count("postern.stored_objects")) > before + 20);
    assert.ok((await count("postern.bodies_to_keep")) + (await count("postern.dispatches")) > 0);
    await program.end("SIGKILL");
    killed.resolve();
    answers = Infinity;
  }
  const logged = await count("postern.deliveries");
  assert.ok(logged >= KILLS * EVENTS_A_KILL);
  const unstored = await count(
    `postern.deliveries d CROSS JOIN (VALUES ('request_body'), ('response_body')) AS kinds (kind)
      WHERE NOT EXISTS (SELECT FROM postern.stored_objects o
        WHERE o.delivery_id = d.id AND o.kind = kinds.kind AND o.state = 'available')`,
  );
  assert.equal(unstored, 0);
});
