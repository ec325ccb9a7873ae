import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { inspect } from "node:util";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { endSessions, sessions } from "../../test/support/sessions.ts";
import { makeLog } from "../telemetry/log.ts";
import { FetchWaits, type FetchWatch } from "./fetch-waits.ts";

// Longer than a test may take.
const LONG_MS = 60_000;

let database: TestDatabase;
let waits: FetchWaits;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => {
  waits = new FetchWaits({ databaseUrl: database.url, log: makeLog("silent") });
});
afterEach(() => waits.close());

/** In one transaction, so that they arrive together. */
const notify = (...keys: string[]) =>
  database.pool.query("SELECT pg_notify('postern_fetch', key) FROM unnest($1::text[]) key", [keys]);

/** Answers whether it has resolved so far. */
function follow(wait: Promise<void>): () => boolean {
  let isOver = false;
  void wait.then(() => (isOver = true));
  return () => isOver;
}

/** Once the connection listens, it wakes every watch. */
async function listening(key: string): Promise<FetchWatch> {
  const watch = waits.watch(key);
  await watch.next(LONG_MS);
  return watch;
}

const LISTENING = { statement: "LISTEN%" };

const listeners = async () => (await sessions(database.pool, LISTENING)).length;

describe("the waits for something to fetch", () => {
  it("end when their key is named, and not when another is", { timeout: 30_000 }, async () => {
    const watch = await listening("one");
    const other = waits.watch("other");
    const isOver = follow(watch.next(LONG_MS));
    await notify("other");
    await other.next(LONG_MS);
    assert.equal(isOver(), false);
    await notify("one");
    await eventually(async () => isOver());
  });

  it("end for all who wait for a key", { timeout: 30_000 }, async () => {
    const watches = [await listening("one"), waits.watch("one")];
    const ends = watches.map((watch) => watch.next(LONG_MS));
    await notify("one");
    await Promise.all(ends);
  });

  it(
    "end at once when the key was named since the last one, and only once",
    { timeout: 30_000 },
    async () => {
      const watch = await listening("one");
      const other = waits.watch("other");
      const later = waits.watch("one");
      await notify("one");
      await notify("other");
      await other.next(LONG_MS);
      await watch.next(LONG_MS);
      await later.next(LONG_MS);
      const stop = new AbortController();
      const isOver = follow(watch.next(LONG_MS, stop.signal));
      await notify("other");
      await other.next(LONG_MS);
      assert.equal(isOver(), false);
      stop.abort();
      await eventually(async () => isOver());
    },
  );

  it("end once for several notices that come together", { timeout: 30_000 }, async () => {
    const watch = await listening("one");
    const other = waits.watch("other");
    // Two commits, one packet.
    await database.pool.query(
      "SELECT pg_notify('postern_fetch', 'one'); COMMIT; SELECT pg_notify('postern_fetch', 'one')",
    );
    await watch.next(LONG_MS);
    const isOver = follow(watch.next(LONG_MS));
    await notify("other");
    await other.next(LONG_MS);
    assert.equal(isOver(), false);
    // And again at the next one.
    await notify("one");
    await eventually(async () => isOver());
  });

  it("end after their time, and at a signal, also at one that came before", { timeout: 30_000 }, async () => {
    const watch = await listening("one");
    await watch.next(1);
    const stop = new AbortController();
    const wait = watch.next(LONG_MS, stop.signal);
    stop.abort();
    await wait;
    await watch.next(LONG_MS, stop.signal);
  });

  it(
    "leave nothing at the signal, by which a client may wait again and again",
    { timeout: 30_000 },
    async () => {
      const watch = await listening("one");
      const { signal } = new AbortController();
      const wait = watch.next(LONG_MS, signal);
      assert.equal(getEventListeners(signal, "abort").length, 1);
      await notify("one");
      await wait;
      await watch.next(1, signal);
      assert.equal(getEventListeners(signal, "abort").length, 0);
    },
  );

  it(
    "share one connection, which stays open for the next, and ends with them",
    { timeout: 30_000 },
    async () => {
      assert.equal(await listeners(), 0);
      const watches = [await listening("one"), waits.watch("two"), waits.watch("one")];
      for (const watch of watches) watch.end();
      assert.equal(await listeners(), 1);
      const next = waits.watch("one");
      const wait = next.next(LONG_MS);
      await notify("one");
      await wait;
      assert.equal(await listeners(), 1);
      await waits.close();
      await eventually(async () => (await listeners()) === 0);
    },
  );

  it("go on for who still watches a key when another stops, and twice", { timeout: 30_000 }, async () => {
    const first = await listening("one");
    const second = waits.watch("one");
    first.end();
    const stop = new AbortController();
    const isFirstOver = follow(first.next(LONG_MS, stop.signal));
    const wait = second.next(LONG_MS);
    await notify("one");
    await wait;
    second.end();
    const third = waits.watch("one");
    // Ending again ends nothing of another's.
    second.end();
    const last = third.next(LONG_MS);
    await notify("one");
    await last;
    assert.equal(isFirstOver(), false);
    stop.abort();
  });

  it(
    "end when the connection was lost and is open again: notices may have been missed",
    { timeout: 30_000 },
    async () => {
      const watch = await listening("one");
      const wait = watch.next(LONG_MS);
      await endSessions(database.pool, LISTENING);
      await wait;
    },
  );

  it("end after their time where nothing can listen, which is told", async () => {
    const told = Promise.withResolvers<unknown>();
    const log = Object.assign(makeLog("silent"), { warn: (about: unknown) => told.resolve(about) });
    const deaf = new FetchWaits({ databaseUrl: "postgres://nobody@127.0.0.1:1/none", log });
    await deaf.watch("one").next(1);
    assert.match(inspect(await told.promise), /^\{\s+err: Error: .*ECONNREFUSED/);
    await deaf.close();
  });

  it("end without a connection when nobody ever watched", async () => {
    await waits.close();
    assert.equal(await listeners(), 0);
  });
});
