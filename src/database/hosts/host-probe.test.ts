import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Client } from "pg";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { pretend, sayHost } from "../../../test/support/pretended-server.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { sessions } from "../../../test/support/sessions.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { askClient, HostProbe } from "./host-probe.ts";
import { isConnectionLoss } from "../passing-errors.ts";

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

describe("a probe of a host", () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ migrated: false });
  });
  after(() => database.drop());

  async function probeOf(said: Parameters<typeof sayHost>[0] = {}) {
    const { url, say } = await pretend(database, sayHost(said));
    return { probe: new HostProbe({ name: "a", url }), say, url };
  }

  const checks = () => sessions(database.pool, { name: "postern host check" });

  it("asks once for all who ask at the same time, and stays connected until it is closed", async () => {
    const { probe, say, url } = await probeOf({ timeline: 4, system: "9" });
    const { hostname, port } = new URL(url);
    assert.deepEqual(probe.address, { host: hostname, port: Number(port) });
    assert.equal(probe.isAsked(), false);
    const asking = probe.ask(5000);
    assert.equal(probe.ask(5000), asking);
    assert.equal(probe.isAsked(), true);
    probe.close();
    const answer = { isReadOnly: false, timeline: 4, system: "9" };
    assert.deepEqual([await asking, probe.isAsked()], [{ kind: "answer", answer }, false]);
    const [pid, ...others] = await checks();
    await say(sayHost({ isStandby: true, system: "9" }));
    const again = probe.ask(5000);
    await new Promise(setImmediate);
    probe.close();
    assert.deepEqual(await again, { kind: "answer", answer: { ...answer, timeline: null } });
    assert.deepEqual([await checks(), others], [[pid], []]);
    probe.close();
    probe.close();
    await eventually(async () => (await checks()).length === 0);
  });

  it("connects anew after its connection was lost, which ends nothing else", async () => {
    const { probe } = await probeOf();
    await probe.ask(5000);
    await database.pool.query("SELECT pg_terminate_backend($1)", await checks());
    await eventually(async () => (await checks()).length === 0);
    assert.equal((await probe.ask(5000)).kind, "error");
    assert.equal((await probe.ask(5000)).kind, "answer");
    probe.close();
  });

  it("says of a server that is silent that it does not answer, or cannot be reached", async (test) => {
    const proxy = await startTcpProxy(Number(new URL(database.url).port));
    test.after(() => proxy.close());
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const probe = new HostProbe({ name: "a", url: url.href });
    await probe.ask(5000);
    proxy.pause();
    for (const message of ["the server does not answer", "timeout expired"]) {
      const report = await probe.ask(20);
      assert.ok(report.kind === "error" && report.error instanceof Error);
      assert.equal(report.error.message, message);
      assert.equal(isConnectionLoss(report.error), true);
    }
  });
});
