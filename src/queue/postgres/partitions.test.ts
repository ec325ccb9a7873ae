/** Which days get a partition, and how patiently. What becomes of traffic meanwhile is `test/partitions.test.ts`. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import type { Pool } from "../../database/pool.ts";
import { findMissingDays } from "./partition-store.ts";
import { makePartitionsAhead } from "./partitions.ts";

let database: TestDatabase;
let told: unknown[];
let waits: number[];

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => {
  [told, waits] = [[], []];
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

type Query = { text: string; values: readonly unknown[] };

/** The database, each of whose queries is shown first, and fails where that throws. */
function shown(look: (query: Query) => void): Pool {
  const query = async (text: string, values: unknown[] = []) => {
    look({ text, values });
    return sql(text, values);
  };
  return Object.create(database.pool, { query: { value: query } });
}

const tell = (about: unknown) => void told.push(about);
const wait = async (ms: number) => void waits.push(ms);

function make(db: Pool = database.pool, signal = new AbortController().signal): Promise<void> {
  return makePartitionsAhead(db, { log: { info: tell, warn: tell }, signal, wait });
}

const missing = () => findMissingDays(database.pool, { from: -1, to: 7 });

async function drop(...days: number[]): Promise<string[]> {
  const { rows } = await sql(
    "SELECT to_char((now() AT TIME ZONE 'UTC')::date + day, '\"events_\"YYYYMMDD') AS name FROM unnest($1::int[]) AS day",
    [days],
  );
  const names = rows.map(({ name }) => String(name));
  for (const name of names) await sql(`DROP TABLE postern.${name}`);
  return names;
}

describe("the days that need a partition", () => {
  it("are those from yesterday to a week ahead", async () => {
    await make();
    assert.deepEqual(await missing(), []);
    await drop(-1, 0, 7);
    assert.deepEqual(await missing(), [-1, 0, 7]);
    await make();
    assert.deepEqual([await missing(), told], [[], []]);
  });

  it("are those of UTC, wherever the session is", async () => {
    await make();
    const abroad = await database.pool.connect();
    await abroad.query("SET timezone = '<two days ahead>-48'");
    assert.deepEqual(await findMissingDays(abroad, { from: -1, to: 7 }), []);
    abroad.release(true);
  });

  it("are all tried, and the first error is thrown, also one that does not pass", async () => {
    await make();
    // The name of the first is taken by something that is no table.
    const [taken] = await drop(2, 4);
    await sql(`CREATE TYPE postern.${taken} AS ENUM ()`);
    await assert.rejects(make(), /already exists/);
    assert.deepEqual([await missing(), waits], [[2], []]);
    await sql(`DROP TYPE postern.${taken}`);
  });
});

describe("a day whose tables are locked", () => {
  const locked = Object.assign(new Error("locked"), { code: "55P03" });

  /** The first so many times. */
  function lockedFor(times: number): Pool {
    let left = times;
    return shown(({ text }) => {
      if (text.includes("ensure_partitions") && left-- > 0) throw locked;
    });
  }

  beforeEach(async () => {
    await make();
    await drop(7);
  });

  it("is tried each second for a minute, which is said once", async () => {
    await make(lockedFor(59));
    assert.deepEqual([await missing(), told], [[], [{ err: locked }]]);
    assert.deepEqual(waits, Array(59).fill(1000));
  });

  it("is given up after that, and left to the next time", async () => {
    await assert.rejects(make(lockedFor(60)), locked);
    assert.deepEqual([await missing(), waits.length], [[7], 59]);
    await make();
    assert.deepEqual(await missing(), []);
  });

  it("is not waited for once it is to stop", async () => {
    await assert.rejects(make(lockedFor(1), AbortSignal.abort()), locked);
    assert.deepEqual([told, waits], [[], []]);
  });
});

/** Of events; and of all tables that a move makes on its way. */
const counts = async () => {
  const { rows } = await sql(`SELECT (SELECT count(*)::int FROM postern.events) AS all,
    (SELECT count(*)::int FROM postern.events_default) AS default,
    (SELECT count(*)::int FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r'
      AND relname ~ 'staged|moved') AS leftovers`);
  return rows[0];
};

describe("a day with many rows in the default partition", () => {
  const PAGES_AT_ONCE = 500;

  beforeEach(async () => {
    await make();
    await sql("TRUNCATE postern.events");
    await drop(0, 1, 2, 3, 4, 5, 6, 7);
    // Of which a page has four.
    await sql(
      `INSERT INTO postern.events SELECT 'acme', postern.uuid_v7(), 'invoice.paid', repeat('x', 1900), 0
        FROM generate_series(1, 2400)`,
    );
  });

  const MOVED = { all: 2400, default: 0, leftovers: 0 };

  it("gets them in steps, since what these left would be copied while traffic waits", async () => {
    const copied: unknown[] = [];
    await make(
      shown(({ text, values }) => {
        if (text.includes("copy_staged_rows")) copied.push(values);
      }),
    );
    assert.deepEqual([await counts(), await missing()], [MOVED, []]);
    const pages = 2400 / 4;
    assert.deepEqual(told, [{ table: "events", pages }, { table: "events" }]);
    assert.deepEqual(copied, [
      ["events", 0, PAGES_AT_ONCE],
      ["events", PAGES_AT_ONCE, 2 * PAGES_AT_ONCE],
    ]);
  });

  it("gets them from whoever comes next where a step failed, which is thrown", async () => {
    const failing = shown(({ text }) => {
      if (text.includes("attach_staged")) throw new Error("no room");
    });
    await assert.rejects(make(failing), /no room/);
    assert.deepEqual((await counts())?.default, 2400);
    await make();
    assert.deepEqual([await counts(), await missing()], [MOVED, []]);
  });
});
