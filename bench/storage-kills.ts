/**
 * `node bench/storage-kills.ts [rounds] [folder|s3]`: kills Postern with SIGKILL
 * while it stores bodies of attempts, and the commands that erase and compare in
 * their middle. Afterwards each row must be what the bucket holds: nothing that
 * was available may be lost, no object may be without a row, none may have been
 * taken for one, and what is called purged must be gone.
 */
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readConfig, type Environment } from "../src/config.ts";
import type { Pool } from "../src/database/pool.ts";
import { openReconciling } from "../src/service/service.ts";
import type { Bucket } from "../src/storage/bytes/bucket.ts";
import { listTrash } from "../src/storage/upkeep/trash.ts";
import { makeLog } from "../src/telemetry/log.ts";
import { createEndpoint } from "../test/support/api.ts";
import { ageFiles, ageRows } from "../test/support/artifacts.ts";
import { startVersionedBucket } from "../test/support/object-store.ts";
import { createTestDatabase } from "../test/support/postgres.ts";
import {
  runProgram,
  sharedSettings,
  startCommand,
  startProgram,
  type Program,
} from "../test/support/program.ts";
import { OWNER, PRODUCER } from "../test/support/calls.ts";
import { startReceiver } from "../test/support/tls-receiver.ts";
import { freePort } from "../test/support/free-port.ts";
import { CREDENTIALS, prepareVersitygw } from "../test/support/versitygw.ts";

const ROUNDS = Number(process.argv[2] ?? 75);
const STORE = process.argv[3] ?? "folder";
const EVENTS_OF_A_ROUND = 12;
const MAX_PASSES = 12;
const KEPT = "kept";
const ERASED = "erased";
/** Longer than the log keeps, so that the answer is an artifact too. */
const LONG_ANSWER = "a".repeat(3000);

type Row = {
  id: string;
  tenant_id: string;
  key: string;
  version_id: string | null;
  sha256: string;
  state: string;
  available_at: Date | null;
};
type Phase = "unrecorded" | "unopened" | "neverUploaded";
type Stand = { env: Environment; pool: Pool; bucket: Bucket; age(): Promise<void> };

const database = await createTestDatabase();
const receiver = await startReceiver({ respond: () => ({ body: LONG_ANSWER }) });
const dataDir = await mkdtemp(join(tmpdir(), "postern-kills-"));
// A kill may come before the first object makes it.
await mkdir(join(dataDir, "storage", "objects"), { recursive: true });
const s3 = STORE === "s3" ? await openStore() : null;
const env: Environment = {
  ...(await sharedSettings(database.url, receiver.caPem)),
  ...CREDENTIALS,
  DATA_DIR: dataDir,
  PORT: String(await freePort()),
  RATE_LIMIT_WRITES: "0",
  ...(s3 === null ? {} : { OBJECT_STORE_URL: s3.url }),
};
const reconciling = await openReconciling({
  config: readConfig(env),
  databaseUrl: database.url,
  migrations: [],
  log: makeLog("silent"),
});
try {
  await killAgainAndAgain({
    env,
    pool: database.pool,
    bucket: reconciling.services.bucket,
    async age() {
      await ageRows(database.pool);
      await (s3 === null ? ageFiles(join(dataDir, "storage", "objects")) : s3.age());
    },
  });
} finally {
  await reconciling.close();
  await s3?.stop();
  await receiver.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
}

async function openStore() {
  const missing = prepareVersitygw();
  if (missing !== null) throw new Error(missing);
  return startVersionedBucket();
}

async function killAgainAndAgain(stand: Stand): Promise<void> {
  let kills = 0;
  const phases = new Map<string, Phase>();
  const wereAvailable = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const program = await startProgram(["up"], stand.env);
    if (round === 0) await setUp(program);
    await hasEndpoints(program);
    const publishing = publishSome(program);
    await delay(randomInt(250));
    const command = round % 3 === 1 ? await killedCommand(stand) : null;
    await program.end("SIGKILL");
    await publishing;
    kills += command === null ? 1 : 2;
    for (const row of await rowsOf(stand)) {
      if (row.state === "available" && row.tenant_id === KEPT) wereAvailable.add(row.id);
      if (row.state === "pending") phases.set(row.id, await phaseOf(stand, row));
    }
    process.stderr.write(`\rround ${round + 1} of ${ROUNDS} `);
  }
  await settle(stand);
  const report = { kills, ...countOf(phases), ...(await judge(stand, wereAvailable)) };
  console.log(JSON.stringify({ store: STORE, ...report }));
  assert.deepEqual([report.lost, report.leaked, report.wronglyDeleted, report.wronglyErased], [0, 0, 0, 0]);
}

/** A worker that follows a killed one gets its endpoints when that one is surely gone. */
async function hasEndpoints(program: Program): Promise<void> {
  for (;;) {
    const { text } = await program.call("GET", "/metrics", { as: null });
    if (/^webhook_worker_slots 256$/m.test(text)) return;
    await delay(100);
  }
}

async function setUp(program: Program): Promise<void> {
  for (const tid of [KEPT, ERASED]) {
    const as = { ...OWNER, tid };
    const json = { keep_request_bodies: true, keep_response_bodies: true, artifact_days: null };
    assert.equal((await program.call("PUT", "/api/storage/settings", { as, json })).status, 200);
    await createEndpoint(program, { url: receiver.url }, { as });
  }
}

/** Ends with the program. */
async function publishSome(program: Program): Promise<void> {
  const calls = Array.from({ length: EVENTS_OF_A_ROUND }, (_, n) =>
    program.call("POST", "/api/events", {
      as: { ...PRODUCER, tid: n % 2 === 0 ? KEPT : ERASED },
      json: { type: "invoice.paid", data: { n, text: "b".repeat(randomInt(2000)) } },
    }),
  );
  await Promise.allSettled(calls);
}

/** One that erases or compares, killed at some moment. */
async function killedCommand(stand: Stand): Promise<void> {
  await stand.age();
  const args = randomInt(2) === 0 ? ["erase", "--tenant", ERASED, "--all", "--yes"] : ["reconcile"];
  const command = startCommand(["storage", ...args], stand.env);
  await delay(500 + randomInt(700));
  await command.kill();
}

async function rowsOf({ pool }: Stand): Promise<Row[]> {
  const { rows } = await pool.query<Row>(
    "SELECT id, tenant_id, key, version_id, sha256, state, available_at FROM postern.stored_objects",
  );
  return rows;
}

function countOf(phases: ReadonlyMap<string, Phase>): Record<Phase, number> {
  const counts = { unrecorded: 0, unopened: 0, neverUploaded: 0 };
  for (const phase of phases.values()) counts[phase]++;
  return counts;
}

/** How far a killed upload was. */
async function phaseOf({ bucket }: Stand, row: Row): Promise<Phase> {
  if (row.version_id !== null) return "unopened";
  const head = await bucket.head({ bucket: bucket.name, key: row.key, version_id: null });
  return head.found ? "unrecorded" : "neverUploaded";
}

/** Erases what is to be erased, and compares until there is nothing more to say. */
async function settle(stand: Stand): Promise<void> {
  const worker = await startProgram(["up"], stand.env);
  for (;;) {
    const { rowCount } = await stand.pool.query(
      "SELECT FROM postern.dispatches UNION ALL SELECT FROM postern.bodies_to_keep LIMIT 1",
    );
    if (rowCount === 0) break;
    await delay(200);
  }
  await worker.end("SIGTERM");
  // Links are tried over HTTP. A worker would compare too, and one at a time may.
  const program = await startProgram(["api"], stand.env);
  for (let passes = 1; ; passes++) {
    await stand.age();
    const erased = await runProgram(["storage", "erase", "--tenant", ERASED, "--all", "--yes"], stand.env);
    assert.equal(erased.code, 0, erased.output);
    const dry = await runProgram(["storage", "reconcile", "--dry-run"], stand.env);
    // Uploads that never came may be many; nothing else may be destroyed.
    assert.doesNotMatch(dry.output, /^quarantined |^purge +object_without_row/m);
    const digest = /--acknowledge ([0-9a-f]{64})/.exec(dry.output)?.[1] ?? "";
    const real = await runProgram(["storage", "reconcile", "--acknowledge", digest, "--json"], stand.env);
    assert.equal(real.code, 0, real.output);
    if (/"decisions": \{\}/.test(real.output)) break;
    assert.ok(passes < MAX_PASSES, real.output);
  }
  await program.end("SIGTERM");
}

async function judge({ bucket, pool, ...stand }: Stand, wereAvailable: ReadonlySet<string>) {
  const rows = await rowsOf({ bucket, pool, ...stand });
  const verdict = { rows: rows.length, lost: 0, leaked: 0, wronglyDeleted: 0, wronglyErased: 0 };
  for (const row of rows) {
    const own = { bucket: bucket.name, key: row.key, version_id: row.version_id };
    const head = row.version_id === null ? null : await bucket.head(own);
    const isThere = head !== null && head.found && head.sha256 === row.sha256;
    const neverCame = row.state === "missing" && row.available_at === null && !isThere;
    if (row.state === "purged" || row.state === "expired") verdict.wronglyErased += isThere ? 1 : 0;
    else if (!(row.state === "available" && isThere) && (!neverCame || wereAvailable.has(row.id))) {
      verdict.lost++;
    }
  }
  const keys = new Set(rows.map(({ key }) => key));
  for await (const { key } of bucket.versions("v1/")) if (!keys.has(key)) verdict.leaked++;
  for await (const _entry of listTrash(bucket)) verdict.wronglyDeleted++;
  return verdict;
}
