/** What else is asked of a tenant in the moment in which it is moved to another shard. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import * as z from "zod";
import type { Claims } from "./support/calls.ts";
import { runHere } from "./support/command.ts";
import { eventually } from "./support/eventually.ts";
import type { Program } from "./support/program.ts";
import {
  BACKEND,
  leftoversOf,
  ok,
  owner,
  prepareShardTests,
  type ShardTests,
} from "./support/shard-programs.ts";
import { holdMoves } from "./support/tenant-moves.ts";

const EXPORTS = "/api/storage/exports";
const exported = z.looseObject({ id: z.string(), status: z.string(), object_id: z.string().nullable() });
const listed = z.object({ exports: z.array(exported) });
const hoursFromNow = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

let t: ShardTests;

before(async () => {
  t = await prepareShardTests({ movesTenants: true });
});
afterEach(() => t.end());
after(() => t.close());

/** Within this process: the change that it comes beside waits, and not as long as a program may take to begin. */
const move = (tid: string) => runHere(["tenants", "move", tid, "--to", "eu2"], t.settings());

/** Work that needs this table of the first shard waits until it is let go. */
async function holdTable(
  table: string,
): Promise<{ isAwaited: () => Promise<boolean>; letGo: () => Promise<void> }> {
  const client = await t.shards().database("eu1").pool.connect();
  await client.query(`BEGIN; LOCK TABLE postern.${table} IN EXCLUSIVE MODE`);
  return {
    async isAwaited() {
      const waits = "SELECT FROM pg_locks WHERE NOT granted AND relation = $1::text::regclass";
      return (await t.rows("eu1", waits, [`postern.${table}`])).length > 0;
    },
    async letGo() {
      await client.query("COMMIT");
      client.release();
    },
  };
}

/** Asks for the erasure, holds it where it needs the table, lets the move begin meanwhile, and then both go on. */
async function eraseWhileMoving(table: string) {
  const program = await t.begin();
  const { one } = await t.twoEndpoints(program);
  const { isAwaited, letGo } = await holdTable(table);
  const erasing = program.call("DELETE", `/api/tenants/${one.tid}`, { as: BACKEND });
  await eventually(isAwaited);
  const moving = move(one.tid);
  await eventually(async () => (await t.rows("eu1", "SELECT FROM postern.tenant_moves")).length === 1);
  await letGo();
  return { program, tid: one.tid, erasing: await erasing, moved: await moving };
}

describe("an erasure", () => {
  it("that comes behind the beginning of a move is refused, and the tenant is moved", async () => {
    const { erasing, moved, tid } = await eraseWhileMoving("tenant_erasures");
    assert.equal(erasing.status, 409, erasing.text);
    assert.match(erasing.text, /being moved/);
    assert.equal(moved.code, 0, moved.errors);
    assert.equal(
      (await t.rows("eu2", "SELECT FROM postern.endpoints WHERE tenant_id = $1", [tid])).length,
      1,
    );
  });

  it("that was asked for before it ends the move, and nothing of the move is left", async () => {
    const { program, erasing, moved, tid } = await eraseWhileMoving("audit_log");
    assert.equal(erasing.status, 202, erasing.text);
    assert.equal(moved.code, 1);
    assert.match(moved.errors, /is being erased.*\n.*given up/);
    await eventually(async () => {
      const { text } = await program.call("GET", `/api/tenants/${tid}/erasure`, { as: BACKEND });
      return text.includes('"finished"');
    });
    for (const shard of ["eu1", "eu2"]) {
      assert.deepEqual(await t.rows(shard, "SELECT FROM postern.tenant_moves"), []);
      assert.deepEqual(await t.rows(shard, "SELECT FROM postern.endpoints WHERE tenant_id = $1", [tid]), []);
      assert.deepEqual(await t.rows(shard, "SELECT FROM postern.shard_tenants WHERE fenced OR moving"), []);
    }
  });
});

/** Asks for the log of two hours, and waits for the archive. Answers the export and its file as the API shows them. */
async function makeExport(program: Program, tid: string) {
  const as = owner(tid);
  const json = { from: hoursFromNow(-1), to: hoursFromNow(1) };
  const { id } = exported
    .pick({ id: true })
    .parse((await ok(program.call("POST", EXPORTS, { as, json }), 202)).body);
  return eventually(async () => {
    const found = exported.parse((await ok(program.call("GET", `${EXPORTS}/${id}`, { as }), 200)).body);
    return found.status === "ready" && found;
  });
}

describe("an export", () => {
  it("moves along once its archive is gone, and another can be made where the tenant lives then", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const as = owner(one.tid);
    const before = await makeExport(program, one.tid);
    const refused = await move(one.tid);
    assert.equal(refused.code, 1, refused.printed);
    const [, erase = ""] = /stored artifacts in eu1.*\n.*`postern (.*)`/.exec(refused.errors) ?? [];
    const { SHARDS: _, ...settings } = t.settings();
    const env = { ...settings, DATABASE_URL: t.shards().database("eu1").url };
    const erased = await runHere([...erase.split(" "), "--yes"], env);
    assert.equal(erased.code, 0, erased.errors);
    await t.rows(
      "eu1",
      "UPDATE postern.stored_objects SET state_since = state_since - interval '16 minutes'",
    );
    const compared = await runHere(["storage", "reconcile"], env);
    assert.equal(compared.code, 0, compared.errors);
    const moved = await move(one.tid);
    assert.equal(moved.code, 0, moved.errors);
    const { text, body } = await ok(program.call("GET", EXPORTS, { as }), 200);
    assert.deepEqual(listed.parse(body).exports, [{ ...before, status: "expired" }], text);
    await ok(
      program.call("POST", `/api/storage/objects/${before.object_id}/download`, {
        as,
        json: { delivery_id: before.id },
      }),
      404,
    );
    for (const table of ["stored_objects", "storage_exports", "storage_grants"])
      assert.deepEqual(await t.rows("eu1", `SELECT * FROM postern.${table}`), [], table);
    const next = await makeExport(program, one.tid);
    const [row] = await t.rows("eu2", "SELECT state FROM postern.stored_objects WHERE id = $1", [
      next.object_id,
    ]);
    assert.deepEqual(row, { state: "available" });
  });

  it("that is asked for during a move ends the move, and stays with its tenant", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const letGo = await holdMoves(t);
    const moving = move(one.tid);
    await eventually(
      async () => (await t.rows("eu1", "SELECT FROM postern.shard_tenants WHERE moving")).length === 1,
    );
    const json = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
    const as = owner(one.tid);
    await ok(program.call("POST", "/api/storage/exports", { as, json }), 202);
    await letGo();
    const moved = await moving;
    assert.equal(moved.code, 1, moved.printed);
    assert.match(moved.errors, /has [a-z ]*(?:exports|artifacts) in eu1.*\n.*storage erase.*\n.*given up/);
    await eventually(async () => {
      const { text } = await ok(program.call("GET", "/api/storage/exports", { as }), 200);
      return text.includes('"ready"');
    });
    assert.deepEqual(
      await t.rows("eu2", "SELECT FROM postern.endpoints WHERE tenant_id = $1", [one.tid]),
      [],
    );
    for (const shard of ["eu1", "eu2"]) {
      assert.deepEqual(await leftoversOf(t, shard), [0, 0, 0], shard);
      assert.deepEqual(await t.rows(shard, "SELECT FROM postern.shard_tenants WHERE fenced OR moving"), []);
    }
  });
});

describe("the audit log", () => {
  it("has what was counted before the move where the tenant lives now", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const member: Claims = { type: "user", tid: one.tid, sub: "max", role: "member" };
    await ok(program.call("GET", "/api/audit", { as: member }), 403);
    const moved = await move(one.tid);
    assert.equal(moved.code, 0, moved.errors);
    // A process that ends adds what it has counted.
    await program.end("SIGTERM");
    const refused = "SELECT FROM postern.audit_log WHERE tenant_id = $1 AND action = 'access.refused'";
    assert.equal((await t.rows("eu2", refused, [one.tid])).length, 1);
    assert.deepEqual(
      await t.rows("eu1", "SELECT FROM postern.audit_log WHERE tenant_id = $1", [one.tid]),
      [],
    );
  });
});
