/** A start with another encryption key than the stored secrets have. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeSecrets, type Environment } from "../src/config.ts";
import { createEndpoint } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, sharedSettings, startProgram } from "./support/program.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
let endpointId: string;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  env = await sharedSettings(database.url, receiver.caPem);
  const program = await startProgram(["api"], env);
  const { endpoint } = await createEndpoint(program, { url: receiver.url });
  endpointId = endpoint.id;
  await program.end("SIGTERM");
});
after(async () => {
  await receiver.close();
  await database.drop();
});

describe("INTEGRATION_ENCRYPTION_KEY", () => {
  const { INTEGRATION_ENCRYPTION_KEY: other } = makeSecrets();

  it("stops the start when it cannot decrypt what is stored, and says what to add", async () => {
    const { code, output } = await runProgram(["up"], { ...env, INTEGRATION_ENCRYPTION_KEY: other });
    assert.equal(code, 1);
    assert.match(
      output,
      /lacks key [0-9a-f]{8}, which encrypts secrets in this database \(1\).*Add the former key/,
    );
    assert.ok(!output.includes(other));
  });

  it("does not stop the start for a secret that is cut off or of no known form: no key opens that", async () => {
    const { rows } = await database.pool.query("SELECT secret FROM postern.endpoints");
    for (const spoilt of ["''", "substring(secret FROM 1 FOR 3)", "set_byte(secret, 0, 9)"]) {
      await database.pool.query(`UPDATE postern.endpoints SET secret = ${spoilt}`);
      const program = await startProgram(["up"], env);
      const test = { json: { event_type: "invoice.paid" } };
      const answer = await program.call("POST", `/api/webhooks/${endpointId}/test`, test);
      assert.equal(answer.status, 500, answer.text);
      await program.end("SIGTERM");
      await database.pool.query("UPDATE postern.endpoints SET secret = $1", [rows[0]?.secret]);
    }
  });

  it("starts as a ring of a new key and the former one", async () => {
    const ring = `${other},${env["INTEGRATION_ENCRYPTION_KEY"] ?? ""}`;
    const program = await startProgram(["up"], { ...env, INTEGRATION_ENCRYPTION_KEY: ring });
    const answer = await program.call("POST", `/api/webhooks/${endpointId}/test`, {
      json: { event_type: "invoice.paid" },
    });
    assert.equal(answer.status, 200, answer.text);
    await program.end("SIGTERM");
  });
});
