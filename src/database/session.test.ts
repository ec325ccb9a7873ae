import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { sessions } from "../../test/support/sessions.ts";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { openSession, type SessionOptions } from "./session.ts";

const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

it(
  "a session has ended once the database has ended it, and once it was closed",
  { timeout: 20_000 },
  async (test) => {
    const database = await createTestDatabase();
    test.after(() => database.drop());
    const open = () =>
      openSession({ url: database.url, role: "postern_worker", applicationName: "test of a session" });
    const [ended, closed] = [await open(), await open()];
    const { rows } = await ended.query("SELECT pg_backend_pid() AS pid, current_user AS name");
    assert.equal(rows[0]?.["name"], "postern_worker");
    await database.pool.query("SELECT pg_terminate_backend($1)", [rows[0]?.["pid"]]);
    await ended.ended;
    await closed.close();
    await closed.ended;
  },
);

describe("a session", () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const options = (more: Partial<SessionOptions> = {}): SessionOptions => ({
    url: database.url,
    role: "postern_worker",
    applicationName: "a session",
    ...more,
  });

  const connected = async () => (await sessions(database.pool, { name: "a session" })).length;

  it("is named, hears notifications, without a payload too, and is closed", async () => {
    const heard: string[] = [];
    const session = await openSession(options({ onNotify: (payload) => void heard.push(payload) }));
    const deaf = await openSession(options());
    assert.equal(await connected(), 2);
    for (const one of [session, deaf]) await one.query("LISTEN news");
    await database.pool.query("NOTIFY news; NOTIFY news, 'hello'");
    for (const one of [session, deaf]) await one.query("SELECT $1::int", [1]);
    assert.deepEqual(heard, ["", "hello"]);
    for (const one of [session, deaf]) await one.close();
    await eventually(async () => (await connected()) === 0);
  });

  it("leaves no timer behind once it is closed, which would keep a process that has nothing else to do", async () => {
    const session = await openSession(options());
    const before = countTimers();
    await session.close();
    assert.ok(countTimers() <= before);
  });

  it("waits for an answer for so long, or for ever", async (test) => {
    const patient = await openSession(options());
    const impatient = await openSession(options({ queryTimeoutMs: 5000 }));
    const sleep = "SELECT FROM pg_sleep(0.1)";
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const answers = [impatient.query(sleep), patient.query(sleep)];
    test.mock.timers.tick(5000);
    test.mock.timers.reset();
    await assert.rejects(answers[0] ?? assert.fail, { message: "Query read timeout" });
    assert.equal((await answers[1])?.rowCount, 1);
    await Promise.all([patient.close(), impatient.close()]);
  });

  it("that may not have its role leaves no connection behind", async () => {
    const login = `nobody_${process.pid}`;
    await database.pool.query(`CREATE ROLE ${login} LOGIN PASSWORD 'pass'`);
    const url = new URL(database.url);
    [url.username, url.password] = [login, "pass"];
    // By which `describeMistake` knows it.
    const refusal = { code: "42501", routine: "call_string_check_hook" };
    await assert.rejects(openSession(options({ url: url.href })), refusal);
    await eventually(async () => (await connected()) === 0);
    await database.pool.query(`DROP ROLE ${login}`);
  });

  it("is closed without waiting for a server that has gone silent", async (test) => {
    const proxy = await startTcpProxy(Number(new URL(database.url).port));
    test.after(() => proxy.close());
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const session = await openSession(options({ url: url.href }));
    proxy.pause();
    test.mock.timers.enable({ apis: ["setTimeout"] });
    let isClosed = false;
    const closing = session.close().then(() => (isClosed = true));
    test.mock.timers.tick(999);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isClosed, false);
    test.mock.timers.tick(1);
    await closing;
  });
});
