import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { holdWaits, releaseWaits } from "../../test/support/held-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { eventually } from "../../test/support/eventually.ts";
import { sessions } from "../../test/support/sessions.ts";
import { keepListening } from "./keep-listening.ts";
import { createListener } from "./listener.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

function listen(url = database.url, askEveryMs?: number) {
  const heard: string[] = [];
  const failures: unknown[] = [];
  let opened = 0;
  const keeping = keepListening(
    { url, role: "postern_worker", channel: "news" },
    {
      heard: (payload) => void heard.push(payload),
      opened: () => void opened++,
      failed: (error) => void failures.push(error),
    },
    askEveryMs,
  );
  return { stop: () => keeping.stop(), heard, failures, opened: () => opened };
}

const listeners = () => sessions(database.pool, { name: "postern listener" });

const notify = (text: string) => database.pool.query("SELECT pg_notify('news', $1)", [text]);

afterEach(releaseWaits);

describe("listening for as long as it is wanted", () => {
  it("hears what is said, until it is stopped", async () => {
    const { heard, failures, opened, stop } = listen();
    await eventually(async () => opened() === 1);
    await notify("one");
    await eventually(async () => heard.length === 1);
    await stop();
    await eventually(async () => (await listeners()).length === 0);
    await notify("two");
    assert.deepEqual([heard, failures, opened()], [["one"], [], 1]);
  });

  it("goes on a second after its connection was lost", async () => {
    const waits = holdWaits();
    const { heard, failures, opened, stop } = listen();
    await eventually(async () => opened() === 1);
    const [pid] = await listeners();
    await database.pool.query("SELECT pg_terminate_backend($1)", [pid]);
    await eventually(async () => waits.length === 1);
    assert.deepEqual([waits[0]?.ms, await listeners()], [1000, []]);
    waits[0]?.end();
    await eventually(async () => opened() === 2);
    await notify("again");
    await eventually(async () => heard.length === 1);
    await stop();
    assert.deepEqual([heard, failures], [["again"], []]);
  });

  it("gives up a connection that is silent, whose loss nobody reports, and goes on with another", async () => {
    const url = new URL(database.url);
    const proxy = await startTcpProxy(Number(url.port));
    url.host = `127.0.0.1:${proxy.port}`;
    const { heard, failures, opened, stop } = listen(url.href, 100);
    try {
      await eventually(async () => opened() === 1);
      proxy.pause();
      await eventually(async () => failures.length > 0);
      proxy.resume();
      await eventually(async () => opened() === 2);
      await notify("again");
      await eventually(async () => heard.includes("again"));
    } finally {
      proxy.resume();
      await stop();
      await proxy.close();
    }
  });

  it("tells why it could not, tries again, and is stopped while it waits", async () => {
    const waits = holdWaits();
    const url = new URL(database.url);
    url.pathname = "/no_such_database";
    const { failures, opened, stop } = listen(url.href);
    await eventually(async () => waits.length === 1);
    waits[0]?.end();
    await eventually(async () => waits.length === 2);
    await stop();
    assert.deepEqual([failures.length, opened()], [2, 0]);
    assert.match(String(failures), /no_such_database.*no_such_database/);
  });
});

it("a listener whose channel cannot be heard closes its connection", async () => {
  await assert.rejects(
    createListener({ url: database.url, role: "postern_worker", channel: "" }, () => undefined),
    { code: "42601" },
  );
  await eventually(async () => (await listeners()).length === 0);
});
