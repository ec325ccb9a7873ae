import assert from "node:assert/strict";
import { it } from "node:test";
import { Client } from "pg";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { askClient } from "./host-probe.ts";

it("leaves a connection open that has answered in time, however long it is used then", async (t) => {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { isReadOnly } = await askClient(client, 1000);
  t.mock.timers.tick(1000);
  t.mock.timers.reset();
  assert.deepEqual((await client.query("SELECT $1::boolean AS answered", [!isReadOnly])).rows, [
    { answered: true },
  ]);
  await client.end();
  await database.drop();
});
