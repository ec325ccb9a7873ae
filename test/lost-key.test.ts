/** An encryption key that is lost for good: what it encrypted never opens, and everything else goes on. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeSecrets, type Environment } from "../src/config.ts";
import { createEndpoint, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, sharedSettings, startProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { webhookSignature } from "./support/receivers.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const HEADERS = { headers: { "x-key": "a value" }, masked_headers: ["x-key"] };
const [lost, kept] = [makeSecrets(), makeSecrets()].map((made) => made.INTEGRATION_ENCRYPTION_KEY);

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
/** Of the first one only the lost key opens the secret and the headers. */
let endpoints: [string, string];
let program: Program | null = null;

const withKeys = (...keys: (string | undefined)[]): Environment => ({
  ...env,
  INTEGRATION_ENCRYPTION_KEY: keys.join(","),
});
const sentTo = (path: string) => receiver.requests.filter((request) => request.path === path);

async function create(ring: Environment, path: string): Promise<string> {
  const making = await startProgram(["api"], ring);
  const { endpoint } = await createEndpoint(making, { url: new URL(path, receiver.url).href, ...HEADERS });
  await making.end("SIGTERM");
  return endpoint.id;
}

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  env = await sharedSettings(database.url, receiver.caPem);
  endpoints = [await create(withKeys(lost), "/lost"), await create(withKeys(kept, lost), "/kept")];
});
after(async () => {
  await program?.end("SIGTERM");
  await receiver.close();
  await database.drop();
});

describe("a key that is lost", () => {
  it("stops the start until the operator says that it is lost, in the words of the message", async () => {
    const { code, output } = await runProgram(["up"], withKeys(kept));
    assert.equal(code, 1);
    const [, ...words] = /`postern (keys) (forget) ([0-9a-f]{8})`/.exec(output) ?? [];
    assert.equal(words.length, 3, output);

    const forgotten = await runProgram(words, withKeys(kept));
    assert.equal(forgotten.code, 0, forgotten.output);
    assert.match(forgotten.printed, new RegExp(`^acme +${endpoints[0]}$`, "m"));
    assert.doesNotMatch(forgotten.printed, new RegExp(endpoints[1]));

    const { printed } = await runProgram(["doctor"], withKeys(kept));
    assert.match(printed, /^warn +encryption key: .* but 2 of a key that was given up as lost/m);

    program = await startProgram(["up"], withKeys(kept));
    await publish(program);
    await eventually(async () => sentTo("/kept").length === 1);
    assert.equal(sentTo("/lost").length, 0);
  });

  it("is not needed by an endpoint whose secret is rotated, with a grace period too, and whose headers are given again", async () => {
    assert.ok(program !== null);
    const path = `/api/webhooks/${endpoints[0]}`;
    const rotated = await program.call("POST", `${path}/rotate-secret`, { json: { grace_seconds: 3600 } });
    assert.equal(rotated.status, 200, rotated.text);
    const changed = await program.call("PATCH", path, { json: HEADERS });
    assert.equal(changed.status, 200, changed.text);
    const tested = await program.call("POST", `${path}/test`, { json: { event_type: "invoice.paid" } });
    assert.equal(tested.status, 200, tested.text);
    const request = sentTo("/lost").at(-1);
    assert.ok(request !== undefined);
    assert.equal(request.headers["x-key"], "a value");
    const { secret } = JSON.parse(rotated.text);
    assert.equal(request.headers["webhook-signature"], webhookSignature(secret, request));
  });

  it("opens what it encrypted, should it be found", async () => {
    await program?.end("SIGTERM");
    const found = await create(withKeys(lost, kept), "/found");
    const [id = ""] =
      /[0-9a-f]{8}/.exec((await runProgram(["keys", "status"], withKeys(lost, kept))).printed) ?? [];
    const held = await runProgram(["keys", "forget", id], withKeys(kept, lost));
    assert.deepEqual([held.code, held.errors.includes("it is not lost")], [1, true], held.output);
    assert.equal((await runProgram(["keys", "forget", id], withKeys(kept))).code, 0);
    const again = await runProgram(["keys", "forget", id], withKeys(kept));
    assert.deepEqual([again.code, again.errors.includes("no secret waits")], [1, true], again.output);
    const without = await runProgram(["keys", "rotate"], withKeys(kept));
    assert.equal(without.code, 0, without.output);
    assert.match(without.printed, new RegExp(`^${id} +2 secrets {2}lost: `, "m"));

    assert.equal((await runProgram(["keys", "rotate"], withKeys(kept, lost))).code, 0);
    program = await startProgram(["up"], withKeys(kept));
    const json = { event_type: "invoice.paid" };
    const tested = await program.call("POST", `/api/webhooks/${found}/test`, { json });
    assert.equal(tested.status, 200, tested.text);
    assert.equal(sentTo("/found")[0]?.headers["x-key"], "a value");
  });
});
