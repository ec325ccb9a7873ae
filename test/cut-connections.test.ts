/** Connections to the database that are lost at each of the server's messages: none ends the process, loses an event or stays. */
import assert from "node:assert/strict";
import { after, afterEach, before, it } from "node:test";
import { prepareDatabase } from "../src/cli/databases.ts";
import { describeMistake } from "../src/cli/mistakes.ts";
import { makeSecrets, readConfig } from "../src/config.ts";
import { makeLog } from "../src/telemetry/log.ts";
import { createEndpoint } from "./support/api.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startMessageCutter, type MessageCutter } from "./support/message-cutter.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { temporaryPath } from "./support/temporary.ts";

/** As many as opening a connection has, and a few more. Behind them, one of nine is enough of a start. */
const EACH = 22;

let database: TestDatabase;
let cutter: MessageCutter;

before(async () => {
  database = await createTestDatabase();
  cutter = await startMessageCutter(database.url);
});
afterEach(async () => {
  await eventually(async () => cutter.open() === 0);
});
after(async () => {
  await cutter.close();
  await database.drop();
});

function cutAt(message: number): void {
  cutter.cutAt(message, message % 2 === 0 ? "half" : "fatal");
}

it("ends a start with two lines, or goes on with it", async () => {
  const env = { ...makeSecrets(), DATABASE_URL: cutter.url, DATA_DIR: temporaryPath("cut") };
  let failed = 0;
  for (let message = 0; ; message += message < EACH ? 1 : 9) {
    cutAt(message);
    const told = await prepareDatabase(readConfig(env), makeLog("silent"), 0).then(
      () => null,
      (error: unknown) => describeMistake(error) ?? assert.fail(String(error)),
    );
    if (!cutter.hasCut()) break;
    // A connection that is being closed is no longer needed.
    if (told === null) continue;
    assert.equal(told.split("\n").length, 2, `message ${message}: ${told}`);
    failed += 1;
  }
  assert.ok(failed > EACH);
});

it("loses no event, whose producer sends it again after a 503", async () => {
  const service = await startTestService({ database: { ...database, url: cutter.url } });
  try {
    const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
    const accepted = new Set<string>();
    for (let message = 0; message < EACH; message++) {
      cutAt(message);
      accepted.add(await eventually(() => publishOnce(service, `cut-${message}`)));
      await eventually(async () => cutter.hasCut());
    }
    assert.equal(accepted.size, EACH);
    // What a lost answer had claimed is attempted when its lease ends.
    await database.pool.query("UPDATE postern.dispatches SET claimable_at = now()");
    await eventually(async () => {
      const sent = new Set(service.receiver.requests.map(({ headers }) => headers["webhook-id"]));
      return [...accepted].every((id) => sent.has(id));
    });
    await eventually(async () => !(await hasDispatches(endpoint.id)));
    await eventually(async () => (await service.call("GET", "/ready", { as: null })).status === 200);
  } finally {
    await service.stop();
  }
});

/** Its id, or null where it is to be sent again. */
async function publishOnce(service: TestService, id: string): Promise<string | null> {
  const json = { type: "invoice.paid", data: {}, id };
  const answer = await service.call("POST", "/api/events", { as: PRODUCER, json });
  if (answer.status === 503) return null;
  assert.ok([200, 202].includes(answer.status), answer.text);
  return String(Object(answer.body).id);
}

async function hasDispatches(endpointId: string): Promise<boolean> {
  const { rowCount } = await database.pool.query("SELECT FROM postern.dispatches WHERE endpoint_id = $1", [
    endpointId,
  ]);
  return rowCount !== 0;
}
