/** The keeper alone, on a real database and a real folder; beside the whole program it is in test/artifacts.test.ts. */
import assert from "node:assert/strict";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from "node:test";
import { Readable } from "node:stream";
import { pino } from "pino";
import { openArtifacts, type Artifacts } from "../../../test/support/artifacts.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newDeliveryId, newEndpointId } from "../../shared/id.ts";
import { makeMetrics } from "../../telemetry/metrics.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { uploadObject } from "../library/upload-object.ts";
import { makeArtifactKeeper, type ArtifactKeeper } from "./artifact-keeper.ts";

const LONG = Buffer.from("é".repeat(1500));
const KEEP_ALL = { requestBodies: true, responseBodies: true, days: null };
const ACME = tenant("acme");
const A_DAY_S = 86_400;

let artifacts: Artifacts;
before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());

let keeper: ArtifactKeeper;
let make: (changed: Partial<Parameters<typeof makeArtifactKeeper>[0]>) => ArtifactKeeper;
let more: ArtifactKeeper[];
let metrics: ReturnType<typeof makeMetrics>;
let lines: Record<string, unknown>[];
let onLine: (count: number) => void;
beforeEach(async () => {
  await artifacts.pool.query("TRUNCATE postern.bodies_to_keep");
  await artifacts.reset();
  metrics = makeMetrics();
  lines = [];
  onLine = () => undefined;
  const write = (line: string) => onLine(lines.push(JSON.parse(line)));
  const log = pino({ level: "info", base: null }, { write });
  more = [];
  make = (changed) => {
    const made = makeArtifactKeeper({ ...artifacts.services, planDays: 30, log, metrics, ...changed });
    more.push(made);
    return made;
  };
  keeper = make({});
});
afterEach(() => Promise.all(more.map((made) => made.stop())));

/** The counters that are not 0, as in an exposition. */
async function counted(): Promise<Record<string, number>> {
  const { values } = await metrics.artifactsTotal.get();
  return Object.fromEntries(
    values.map(({ labels, value }) => [Object.values(labels).join(" ").trim(), value]),
  );
}

async function count(table: string, where = "true"): Promise<number> {
  const { rows } = await artifacts.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM postern.${table} WHERE ${where}`,
  );
  return rows[0]?.count ?? 0;
}

const isWorkedOff = async () => (await count("bodies_to_keep")) === 0;

/** An answer's body; its bytes are in the note. */
async function noteAnswer(bytes = LONG, { days = null, id = newDeliveryId() }: Partial<Noted> = {}) {
  await keeper.note(
    artifacts.pool,
    { tenantId: ACME, endpointId: newEndpointId(), id, attempt: 2 },
    { requestBody: false, responseBody: bytes, days },
  );
  return id;
}
type Noted = { days: number | null; id: ReturnType<typeof newDeliveryId> };

/** A request's body, whose delivery is not in the log. */
async function noteGone(): Promise<void> {
  await keeper.note(
    artifacts.pool,
    { tenantId: ACME, endpointId: newEndpointId(), id: newDeliveryId(), attempt: 1 },
    { requestBody: true, responseBody: null, days: null },
  );
}

/** In seconds. */
const dueIn = (from: number, to: number): string =>
  `due_at BETWEEN now() + interval '${from} s' AND now() + interval '${to} s'`;

/** Where the folder of artifacts should be there is a file. */
async function breakStore(): Promise<() => Promise<void>> {
  const place = join(artifacts.dataDir, "storage");
  await rename(place, `${place}.away`);
  await writeFile(place, "");
  return async () => {
    await rm(place);
    await rename(`${place}.away`, place);
  };
}

describe("what of an attempt is noted", () => {
  const bodies = { requestBody: true, responseBody: LONG, days: null };
  const made = { tenantId: ACME, attempt: 999, longResponseBody: LONG };

  it("is what its tenant keeps, up to the 999th attempt", async () => {
    assert.deepEqual(keeper.choose(KEEP_ALL, made), bodies);
    assert.deepEqual(keeper.choose({ ...KEEP_ALL, days: 3 }, made), { ...bodies, days: 3 });
    const short = { ...made, longResponseBody: null };
    assert.deepEqual(keeper.choose(KEEP_ALL, short), { ...bodies, responseBody: null });
    const requests = { ...KEEP_ALL, responseBodies: false };
    assert.deepEqual(keeper.choose(requests, made), { ...bodies, responseBody: null });
    const answers = { ...KEEP_ALL, requestBodies: false };
    assert.deepEqual(keeper.choose(answers, made), { ...bodies, requestBody: false });
    assert.deepEqual(await counted(), {});
  });

  it("is nothing where a tenant keeps nothing, and nothing is counted", async () => {
    const beyond = { ...made, attempt: 1000 };
    assert.equal(keeper.choose(null, beyond), null);
    const nothing = { ...KEEP_ALL, requestBodies: false, responseBodies: false };
    assert.equal(keeper.choose(nothing, made), null);
    assert.equal(keeper.choose(nothing, beyond), null);
    const answers = { ...KEEP_ALL, requestBodies: false };
    assert.equal(keeper.choose(answers, { ...beyond, longResponseBody: null }), null);
    assert.deepEqual(await counted(), {});
  });

  it("is nothing while too many wait, by their number or by their bytes, and each loss is counted", async () => {
    await noteAnswer();
    await noteAnswer();
    await artifacts.pool.query("UPDATE postern.bodies_to_keep SET due_at = now() + interval '1 day'");
    const bytes = 2 * LONG.length;
    for (const [maxWaiting, isFull] of [
      [{ count: 3, bytes: bytes + 1 }, false],
      [{ count: 2, bytes: bytes + 1 }, true],
      [{ count: 3, bytes }, true],
    ] as const) {
      const bounded = make({ maxWaiting });
      metrics.bodiesWaiting.set(0);
      bounded.start();
      await eventually(async () => (await metrics.bodiesWaiting.get()).values[0]?.value === 2);
      assert.deepEqual(bounded.choose(KEEP_ALL, made), isFull ? null : bodies);
      assert.deepEqual(bounded.choose(KEEP_ALL, { ...made, attempt: 1000 }), null);
      assert.deepEqual(bounded.choose(KEEP_ALL, { ...made, tenantId: tenant("globex") }), bodies);
      await bounded.stop();
    }
    assert.deepEqual(await counted(), {
      "request_body beyond_999": 3,
      "response_body beyond_999": 3,
      "request_body lost backlog": 2,
      "response_body lost backlog": 2,
    });
    assert.equal(lines.length, 2, "one line of each keeper within ten seconds");
  });

  it("is nothing from the 1000th attempt on, which is counted and no loss", async () => {
    assert.equal(keeper.choose(KEEP_ALL, { ...made, attempt: 1000 }), null);
    assert.equal(keeper.choose({ ...KEEP_ALL, responseBodies: false }, { ...made, attempt: 1000 }), null);
    assert.deepEqual(await counted(), { "request_body beyond_999": 2, "response_body beyond_999": 1 });
    assert.deepEqual(lines, []);
  });
});

describe("a noted body", () => {
  it("is stored once, with its facts, for as many days as noted", async () => {
    const id = await noteAnswer(LONG, { days: 3 });
    keeper.start();
    await eventually(isWorkedOff);
    // As a process leaves it that dies before it deletes the note.
    await noteAnswer(LONG, { days: 3, id });
    await eventually(isWorkedOff);
    const { rows } = await artifacts.pool.query(
      `SELECT tenant_id, delivery_id, attempt, kind, state, size::int, bucket, sha256,
          extract(epoch FROM deadline - available_at)::int AS lives_s
        FROM postern.stored_objects`,
    );
    assert.equal(rows.length, 1);
    const { sha256, ...row } = rows[0];
    assert.match(sha256, /^[0-9a-f]{64}$/);
    assert.deepEqual(row, {
      tenant_id: "acme",
      delivery_id: id,
      attempt: 2,
      kind: "response_body",
      state: "available",
      size: LONG.length,
      bucket: artifacts.services.bucket.name,
      lives_s: 3 * A_DAY_S,
    });
    await keeper.stop();
    assert.deepEqual(await counted(), { "response_body kept": 2 });
    assert.deepEqual(lines, []);
  });

  it("is lost where its event is gone, and losses at once are one line", async (test) => {
    await noteGone();
    keeper.start();
    await eventually(isWorkedOff);
    await noteGone();
    await eventually(isWorkedOff);
    assert.deepEqual(
      lines.map(({ msg, err, kind, tenantId, times }) => ({ msg, err, kind, tenantId, times })),
      [
        {
          msg: "bodies of attempts are lost",
          err: "the event is gone",
          kind: "request_body",
          tenantId: ACME,
          times: 1,
        },
      ],
    );
    assert.equal(typeof lines[0]?.["deliveryId"], "string");
    passTime(test, 10_000);
    await noteGone();
    await eventually(async () => lines.length === 2);
    assert.equal(lines[1]?.["times"], 2);
    passTime(test, 20_000);
    await noteGone();
    await eventually(async () => lines.length === 3);
    assert.equal(lines[2]?.["times"], 1);
    await eventually(isWorkedOff);
    await keeper.stop();
    assert.deepEqual(await counted(), { "request_body lost gone": 4 });
  });

  it("is tried again, later each time, while the store is away, and kept when it is back", async () => {
    const [early, late] = [await noteAnswer(), await noteAnswer()];
    const setTries = "UPDATE postern.bodies_to_keep SET tries = $2 WHERE delivery_id = $1";
    await artifacts.pool.query(setTries, [early, 7]);
    await artifacts.pool.query(setTries, [late, 20]);
    const mend = await breakStore();
    try {
      keeper.start();
      await eventually(async () => (await count("bodies_to_keep", `tries = 8 AND ${dueIn(64, 128)}`)) === 1);
      await eventually(
        async () => (await count("bodies_to_keep", `tries = 21 AND ${dueIn(200, 300)}`)) === 1,
      );
    } finally {
      await mend();
    }
    assert.equal(lines[0]?.["msg"], "bodies could not be stored yet; they are tried again");
    assert.equal(lines[0]?.["kind"], "response_body");
    assert.deepEqual(await counted(), {});
    await artifacts.pool.query("UPDATE postern.bodies_to_keep SET due_at = now()");
    await eventually(isWorkedOff);
    assert.equal(await count("stored_objects", "state = 'available'"), 2);
    await keeper.stop();
    assert.deepEqual(await counted(), { "response_body kept": 2 });
  });

  it("is lost when it could not be stored for a day, not before", async () => {
    const [old, young] = [await noteAnswer(), await noteAnswer()];
    const setAge =
      "UPDATE postern.bodies_to_keep SET noted_at = now() - $2 * interval '1 s' WHERE delivery_id = $1";
    await artifacts.pool.query(setAge, [old, A_DAY_S + 60]);
    await artifacts.pool.query(setAge, [young, A_DAY_S - 600]);
    const mend = await breakStore();
    try {
      keeper.start();
      await eventually(async () => (await count("bodies_to_keep")) === 1);
      await keeper.stop();
    } finally {
      await mend();
    }
    assert.equal(await count("bodies_to_keep", `delivery_id = '${young}'`), 1);
    assert.deepEqual(await counted(), { "response_body lost store": 1 });
  });

  it("is not tried while others that the store did not take were just postponed", async () => {
    for (let n = 0; n < 20; n++) await noteAnswer();
    const mend = await breakStore();
    try {
      keeper.start();
      // A lease is longer.
      const isPostponed = "tries = 1 AND due_at < now() + interval '5 s'";
      await eventually(async () => (await count("bodies_to_keep", isPostponed)) >= 16);
      await keeper.stop();
    } finally {
      await mend();
    }
    assert.equal(await count("bodies_to_keep", "tries = 0"), 4);
  });

  it("waits for no pause behind a batch that was stored", async () => {
    for (let n = 0; n < 17; n++) await noteAnswer();
    const pauses: number[] = [];
    const paused = make({
      wait: (ms) => {
        pauses.push(ms);
        return Promise.withResolvers<void>().promise;
      },
    });
    paused.start();
    await eventually(isWorkedOff);
    // The two that repeat the work and the measure. Their pauses never end, so neither would a stop.
    await eventually(async () => pauses.length === 2);
    more.pop();
    assert.deepEqual(
      pauses.toSorted((one, other) => one - other),
      [1000, 2000],
    );
  });

  it("waits for its lease where its failure cannot be recorded, which is logged", async (test) => {
    await noteAnswer();
    const { db, bucket } = artifacts.services;
    let nowMs = performance.now();
    test.mock.method(performance, "now", () => (nowMs += 20_000));
    const query = (...asked: Parameters<typeof db.query>) =>
      Object(asked[0]).includes?.("SET due_at = now() + $4")
        ? Promise.reject(new Error("away too"))
        : db.query(...asked);
    const failing = make({
      db: Object.assign(Object.create(db), { query }),
      bucket: { ...bucket, put: () => Promise.reject(new Error("away")) },
    });
    const told = Promise.withResolvers<void>();
    onLine = (count) => count === 2 && told.resolve();
    failing.start();
    await told.promise;
    test.mock.restoreAll();
    await failing.stop();
    const message = "bodies could not be stored yet; they are tried again";
    assert.deepEqual(
      lines.map(({ msg, err }) => [msg, Object(err).message]),
      [
        [message, "away"],
        [message, "away too"],
      ],
    );
    assert.equal(await count("bodies_to_keep", `tries = 1 AND ${dueIn(10, 20)}`), 1);
  });

  it("waits for the lease of nobody after a stop", async () => {
    for (let n = 0; n < 16; n++) await noteAnswer();
    keeper.start();
    await eventually(async () => (await count("bodies_to_keep")) < 16);
    await keeper.stop();
    assert.equal(await count("bodies_to_keep", "due_at > now() + interval '1 s'"), 0);
    const { "response_body kept": kept = 0 } = await counted();
    assert.equal(kept + (await count("bodies_to_keep")), 16);
  });
});

describe("bytes whose upload could not be recorded", () => {
  const bytes = Buffer.from("bytes of an upload");

  for (const [how, statement, left] of [
    ["are deleted where their tenant was erased meanwhile", "DELETE FROM postern.stored_objects", 0],
    ["stay where another made the row's upload", "UPDATE postern.stored_objects SET revision = 7", 1],
  ] as const) {
    it(how, async () => {
      const { bucket } = artifacts.services;
      const put: Bucket["put"] = async (upload) => {
        const answer = await bucket.put(upload);
        await artifacts.pool.query(statement);
        return answer;
      };
      const services = { db: artifacts.pool, bucket: { ...bucket, put } };
      assert.equal(
        await uploadObject(services, artifacts.newObject(bytes), () => Readable.from([bytes])),
        null,
      );
      assert.equal((await bucket.list({ after: null, limit: 2, prefix: "v1/" })).objects.length, left);
    });
  }
});

it("the number of bodies that wait is measured, and a failure of the database is logged and passes", async () => {
  const rename = (from: string, to: string) =>
    artifacts.pool.query(`ALTER TABLE postern.${from} RENAME TO ${to}`);
  await rename("bodies_to_keep", "bodies_elsewhere");
  keeper.start();
  await eventually(async () => lines.length > 0);
  await rename("bodies_elsewhere", "bodies_to_keep");
  assert.equal(lines[0]?.["msg"], "bodies that wait to be stored were not looked at");
  await noteAnswer();
  await eventually(isWorkedOff);
  let queries = 0;
  artifacts.services.db.on("acquire", () => queries++);
  await artifacts.pool.query(
    `INSERT INTO postern.bodies_to_keep (tenant_id, endpoint_id, delivery_id, attempt, kind, due_at)
      VALUES ('acme', gen_random_uuid(), gen_random_uuid(), 1, 'request_body', now() + interval '1 day')`,
  );
  await eventually(async () => (await metrics.bodiesWaiting.get()).values[0]?.value === 1);
  // Looks for due bodies pause in between. Without a pause there are thousands.
  assert.ok(queries > 0 && queries < 200, String(queries));
});

/** From now on the process's clock is so far ahead. */
function passTime(test: TestContext, ms: number): void {
  test.mock.restoreAll();
  const now = performance.now.bind(performance);
  test.mock.method(performance, "now", () => now() + ms);
}
