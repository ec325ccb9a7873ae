/** Two releases on one database: the older one goes on, and starts again, once the newer one has migrated. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { loadMigrations } from "../src/cli/databases.ts";
import { migrate } from "../src/database/schema/migrate.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";

import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let database: TestDatabase;
let receiver: TlsReceiver;
const programs: Program[] = [];

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
});
after(async () => {
  await Promise.all(programs.map((program) => program.end("SIGTERM")));
  await receiver.close();
  await database.drop();
});

describe("a release that is older than the database", () => {
  it("serves on, starts anew with a warning, and delivers", async () => {
    const env = await sharedSettings(database.url, receiver.caPem);
    const running = await startProgram(["up"], env);
    programs.push(running);
    const { endpoint } = await createEndpoint(running, { url: receiver.url });

    // What a next release would bring, by the rule that the release before must run on it.
    const sql =
      "ALTER TABLE postern.endpoints ADD COLUMN colour text; CREATE TABLE postern.colours (name text);";
    const next = { version: 9000, name: "colours", file: "9000_colours.sql", sha256: "of-the-next", sql };
    assert.deepEqual(await migrate(database.pool, [...(await loadMigrations()), next]), [next]);

    const started = await startProgram(["up"], env);
    programs.push(started);
    assert.match(started.output(), /The database is newer than this release: it has 9000_colours\.sql/);
    for (const program of [running, started]) {
      assert.equal((await program.call("GET", "/ready", { as: null })).status, 200);
      const event = await publish(program);
      await eventually(
        async () => (await listDeliveries(program, endpoint.id, `?event_id=${event.id}&status=delivered`))[0],
      );
    }
  });
});
