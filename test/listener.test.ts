/** The connection that hears notifications needs no rights, and has none of the owner's. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createListener } from "../src/database/listener.ts";
import { eventually } from "./support/eventually.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sessions } from "./support/sessions.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

describe("a listener", () => {
  it("hears its channel under a narrow role", async () => {
    const heard = Promise.withResolvers<string>();
    const options = { url: database.url, role: "postern_worker", channel: "a channel" } as const;
    const listener = await createListener(options, heard.resolve);
    await database.pool.query(`SELECT pg_notify('a channel', 'hello')`);
    assert.equal(await heard.promise, "hello");
    await listener.close();
  });

  it("finds within 5 seconds that its server has gone silent", async (test) => {
    const url = new URL(database.url);
    const proxy = await startTcpProxy(Number(url.port));
    test.after(() => proxy.close());
    url.port = String(proxy.port);
    const options = { url: url.href, role: "postern_worker", channel: "a channel" } as const;
    const listener = await createListener(options, () => undefined);
    proxy.pause();
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const confirmed = listener.confirm();
    test.mock.timers.tick(5000);
    test.mock.timers.reset();
    await assert.rejects(confirmed, { message: "Query read timeout" });
  });

  it("that can't listen leaves no connection behind", async () => {
    // No name of a channel, which PostgreSQL refuses.
    const options = { url: database.url, role: "postern_worker", channel: "" } as const;
    const listening = () => sessions(database.pool, { name: "postern listener" });
    const before = (await listening()).length;
    await assert.rejects(
      createListener(options, () => undefined),
      { code: "42601" },
    );
    await eventually(async () => (await listening()).length <= before);
  });

  it("does not listen where it may not assume the role", async () => {
    const login = `stranger_${process.pid}`;
    await database.pool.query(`CREATE ROLE ${login} LOGIN PASSWORD 'pass'`);
    const url = new URL(database.url);
    url.username = login;
    url.password = "pass";
    const options = { url: url.href, role: "postern_worker", channel: "a channel" } as const;
    try {
      await assert.rejects(
        createListener(options, () => undefined),
        /permission denied to set role "postern_worker"/,
      );
    } finally {
      await database.pool.query(`DROP ROLE ${login}`);
    }
  });
});
