/** `postern storage` against a running program. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  lastHour,
  ndjsonRows,
  parquetRows,
  seedMany,
  storageOf,
  unpack,
  unpackFiles,
} from "./support/exports.ts";
import { runProgram, runUnread } from "./support/program.ts";
import { MEMBER, OTHER_OWNER, OWNER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";

let dataDir: string;
let service: TestService;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-commands-"));
  service = await startTestService({
    env: { DATA_DIR: dataDir },
    // No pass of its own comes between a row that a test loses and the command that finds it missing.
    storageTimes: { firstPassAfterMs: 86_400_000 },
  });
  await seedMany(service.database.pool, "acme", 5);
});
after(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const run = (...args: string[]) => runProgram(["storage", ...args], service.env);

async function newArtifact(): Promise<{ object_id: string; delivery_id: string }> {
  const storage = storageOf(service);
  const found = await storage.waitFor(await storage.request());
  assert.ok(found.object_id !== null);
  return { object_id: found.object_id, delivery_id: found.id };
}

describe("postern storage", () => {
  it("exports to a file, telling how far it is in plain lines", async () => {
    const output = join(dataDir, "log.zip");
    const { from } = lastHour();
    const ended = await run(
      "export",
      "--tenant",
      "acme",
      "--from",
      from,
      "--output",
      output,
      "--url",
      service.url,
    );
    assert.equal(ended.code, 0, ended.output);
    assert.match(ended.output, /5 deliveries in [0-9]+ bytes: .*log\.zip/);
    assert.ok(!ended.output.includes("\r") && !ended.output.includes("\u001b"));
    assert.equal(ndjsonRows(await unpack(await readFile(output))).length, 5);
  });

  it("says no as the API does, and tells a mistake of the operator's in words", async () => {
    const refused = await run("export", "--tenant", "acme", "--from", "2001-01-01", "--url", service.url);
    assert.equal(refused.code, 1);
    assert.match(refused.output, /"error":"Validation failed"/);
    const mistaken = await run("export", "--tenant", "acme", "--from", "yesterday", "--url", service.url);
    assert.equal(mistaken.code, 1);
    assert.match(mistaken.output, /--from yesterday is not a time/);
  });

  it("exports what it is told to alone: the type, the status, the formats", async () => {
    const output = join(dataDir, "some.zip");
    await seedMany(service.database.pool, "narrowed", 5);
    const args = ["--tenant", "narrowed", "--from", lastHour().from, "--url", service.url];
    const narrowed = ["--type", "invoice.*", "--status", "test", "--format", "parquet,ndjson"];
    const ended = await run("export", ...args, ...narrowed, "--output", output);
    assert.equal(ended.code, 0, ended.output);
    const files = await unpackFiles(await readFile(output));
    const { event_type, delivery_status, formats } = JSON.parse(String(files.get("manifest.json")));
    assert.deepEqual([event_type, delivery_status, formats], ["invoice.*", "test", ["ndjson", "parquet"]]);
    const { rows } = await parquetRows(files);
    assert.equal(rows.length, 5);
    const refused = await run("export", ...args, "--format", "csv,xlsx", "--status", "pending");
    assert.equal(refused.code, 1);
    assert.match(refused.output, /delivery_status/);
    assert.match(refused.output, /formats/);
  });

  it("asks for no export that could not be put where it should", async () => {
    const { code, output } = await run(
      "export",
      "--tenant",
      "acme",
      "--from",
      "2026-01-01",
      "--output",
      "/absent/log.zip",
    );
    assert.equal(code, 1);
    assert.match(output, /--output \/absent\/log\.zip: the folder \/absent does not exist/);
  });

  it("leaves no half file where the archive cannot be put in its place, and fails", async () => {
    const output = join(dataDir, "taken.zip");
    await mkdir(output);
    const { from } = lastHour();
    const args = ["--tenant", "misplaced", "--from", from, "--output", output, "--url", service.url];
    const ended = await run("export", ...args);
    assert.equal(ended.code, 1, ended.output);
    assert.deepEqual(
      (await readdir(dataDir)).filter((name) => name.startsWith("taken.zip")),
      ["taken.zip"],
    );
  });

  it("fails where the export does, and says why", async () => {
    const { pool } = service.database;
    await pool.query(
      `CREATE FUNCTION fail_export() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.status := 'failed'; NEW.error := 'too large'; RETURN NEW; END $$;
      CREATE TRIGGER fail_export BEFORE INSERT ON postern.storage_exports
        FOR EACH ROW EXECUTE FUNCTION fail_export()`,
    );
    try {
      const { from } = lastHour();
      const ended = await run("export", "--tenant", "acme", "--from", from, "--url", service.url);
      assert.equal(ended.code, 1, ended.output);
      assert.match(ended.printed, /^The export [0-9a-f-]{36} has failed: too large$/m);
    } finally {
      await pool.query("DROP FUNCTION fail_export CASCADE");
    }
  });

  it("lists the library, as lines and as JSON", async () => {
    const { items } = await storageOf(service).library();
    const [item] = items;
    assert.ok(item !== undefined);
    const lines = await run("library", "--tenant", "acme", "--url", service.url);
    assert.ok(lines.output.includes(`${item.id}  ${item.filename}`), lines.output);
    const json = await run("library", "--tenant", "acme", "--kind", "export", "--json", "--url", service.url);
    assert.deepEqual(JSON.parse(json.output), { items, next: null });
  });

  it("erases nothing that is not agreed to, then everything of the tenant, and says what", async () => {
    const storage = storageOf(service);
    const { items } = await storage.library();
    const [item] = items;
    assert.ok(item !== undefined && items.length === 1);
    for (const neitherOrBoth of [[], ["--object", item.id, "--all"]]) {
      const unclear = await run("erase", "--tenant", "acme", "--yes", ...neitherOrBoth);
      assert.deepEqual(
        [unclear.code, /--object, or use --all for all of the tenant's/.test(unclear.output)],
        [1, true],
      );
    }
    const unasked = await run("erase", "--tenant", "acme", "--all");
    assert.equal(unasked.code, 1);
    assert.match(unasked.output, /Erase 1 of acme\? It cannot be undone\. Add --yes\./);
    const foreign = await run("erase", "--tenant", "globex", "--object", item.id, "--yes");
    assert.deepEqual([foreign.code, /^0 erased/m.test(foreign.output)], [1, true]);
    assert.equal((await storage.library()).items[0]?.status, "ready");

    const hold = ["hold", "--tenant", "acme", "--object", item.id];
    assert.match((await run(...hold)).output, /is held$/m);
    const held = await run("erase", "--tenant", "acme", "--all", "--yes");
    assert.equal(held.code, 1);
    assert.match(
      held.printed,
      /^left {4}.* it is held: .*\nBeside them 0 versions and marks of deletion, and 0 objects of the trash, were deleted\.\n0 erased: no link is given to them any more\..*\n1 left\.\n$/,
    );
    assert.match((await run(...hold, "--end")).output, /is held no longer/);
    assert.equal((await run("hold", "--tenant", "globex", "--object", item.id)).code, 1);
    const { url } = await storage.link(item);
    assert.equal((await fetch(url)).status, 200);
    await service.database.pool.query(
      `INSERT INTO postern.bodies_to_keep (tenant_id, endpoint_id, delivery_id, attempt, kind, due_at)
        SELECT tid, gen_random_uuid(), gen_random_uuid(), 1, 'request_body', now() + interval '1 day'
        FROM unnest('{acme,globex}'::text[]) AS tid`,
    );
    const erased = await run("erase", "--tenant", "acme", "--all", "--yes", "--json");
    assert.equal(erased.code, 0, erased.output);
    assert.equal(JSON.parse(erased.printed).remains.bodies, 1);
    const waiting = await service.database.pool.query("SELECT tenant_id FROM postern.bodies_to_keep");
    assert.deepEqual(waiting.rows, [{ tenant_id: "globex" }]);
    assert.deepEqual(
      JSON.parse(erased.printed).erased.map(({ id, size }: { id: string; size: number }) => [id, size]),
      [[item.id, item.size]],
    );
    const { rows: told } = await service.database.pool.query(
      `SELECT tenant_id, actor_type, actor_sub, outcome, details FROM postern.audit_log
        WHERE action = 'artifact.erased' ORDER BY at, id`,
    );
    const operator = { tenant_id: "acme", actor_type: "operator", actor_sub: null, outcome: "done" };
    const details = { object_id: item.id, delivery_id: item.delivery_id, kind: "export" };
    assert.deepEqual(told, [
      { ...operator, details },
      { ...operator, details: { bodies: 1, versions: 0, trash: 0 } },
    ]);
    const json = { delivery_id: item.delivery_id };
    assert.equal((await storage.call("POST", `/objects/${item.id}/download`, { json })).status, 410);
    assert.equal((await fetch(url)).status, 404);
    const late = await run(...hold);
    assert.deepEqual([late.code, /was erased, and its bytes are deleted/.test(late.output)], [1, true]);
  });

  it("exports to the end when nobody reads on how far it is", async () => {
    const exported = await runUnread(
      ["storage", "export", "--tenant", "acme", "--from", lastHour().from, "--url", service.url],
      service.env,
      true,
    );
    assert.equal(exported.code, 0);
  });

  it("asks of the one that is named alone, and erases to the end when nobody reads on what it prints", async () => {
    const { object_id: one } = await newArtifact();
    await newArtifact();
    const unasked = await run("erase", "--tenant", "acme", "--object", one);
    assert.match(unasked.output, /Erase 1 of acme\? It cannot be undone\. Add --yes\./);
    const erased = await runUnread(["storage", "erase", "--tenant", "acme", "--all", "--yes"], service.env);
    assert.equal(erased.code, 0, erased.errors);
    assert.doesNotMatch(erased.errors, /EPIPE/);
    const { items } = await storageOf(service).library();
    assert.deepEqual(
      items.filter(({ status }) => status !== "expired"),
      [],
    );
  });

  it("tells bytes that wait to be deleted from those that are gone", async () => {
    const { object_id } = await newArtifact();
    const { pool } = service.database;
    // Bytes that are not the row's own are left alone.
    await pool.query("UPDATE postern.stored_objects SET etag = 'other' WHERE id = $1", [object_id]);
    const erase = ["erase", "--tenant", "acme", "--object", object_id, "--yes"];
    assert.equal((await run(...erase, "--json")).code, 1);
    const { code, output } = await run(...erase);
    assert.equal(code, 1, output);
    assert.match(
      output,
      new RegExp(
        `^erased  ${object_id}  export  [0-9]+ bytes wait to be deleted: the version in the bucket is not of the row's size and SHA-256$`,
        "m",
      ),
    );
    assert.match(output, /^1 erased: .* The bytes of 0 are gone, and links with them\.$/m);
    assert.match(output, /^Links that the object store serves stay good for the other 1 until /m);
    await pool.query("UPDATE postern.stored_objects SET state = 'purged' WHERE id = $1", [object_id]);
    assert.equal((await run(...erase)).code, 0, "a worker has deleted them since");
    await pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [object_id]);
  });
});

describe("a hold and an erasure by a user", () => {
  it("need their permissions, refuse each other by name, and are in the audit log", async () => {
    const storage = storageOf(service);
    const { object_id: id, delivery_id } = await newArtifact();
    const path = `/objects/${id}`;
    const admin = { ...OWNER, role: "admin" };
    for (const as of [MEMBER, admin])
      assert.equal((await storage.call("PUT", `${path}/hold`, { as })).status, 403);
    assert.equal((await storage.call("DELETE", path, { as: MEMBER })).status, 403);
    assert.equal((await storage.call("PUT", `${path}/hold`, { as: OTHER_OWNER })).status, 404);
    assert.equal((await storage.call("DELETE", path, { as: OTHER_OWNER })).status, 404);
    assert.equal((await storage.call("DELETE", "/objects/no-id", {})).status, 404);

    for (let twice = 0; twice < 2; twice++) {
      const held = await storage.call("PUT", `${path}/hold`);
      assert.deepEqual([held.status, held.body], [200, { id, held: true }]);
    }
    const refused = await storage.call("DELETE", path, { as: admin });
    assert.equal(refused.status, 409);
    assert.deepEqual(refused.body, {
      error: "The artifact is held",
      issues: [{ path: ["object_id"], message: `${id} is held: end the hold first`, code: "held" }],
    });
    const { url } = await storage.link({ id, delivery_id });
    assert.equal((await fetch(url)).status, 200);
    assert.equal((await storage.call("DELETE", `${path}/hold`)).status, 200);
    const erased = await storage.call("DELETE", path, { as: admin });
    assert.deepEqual([erased.status, erased.body], [200, { id, bytes: "deleted" }]);
    assert.equal((await fetch(url)).status, 404);
    assert.equal((await storage.call("PUT", `${path}/hold`)).status, 410);
    const { rows } = await service.database.pool.query(
      "SELECT action, actor_sub FROM postern.audit_log WHERE details ->> 'object_id' = $1 ORDER BY id",
      [id],
    );
    assert.deepEqual(
      rows.map(({ action, actor_sub }) => [action, actor_sub]),
      [
        ["artifact.hold_set", "ada"],
        ["artifact.download_granted", "ada"],
        ["artifact.hold_ended", "ada"],
        ["artifact.erased", "ada"],
      ],
    );
  });

  it("end the links that this API serves, though the bytes are still there", async () => {
    const { object_id: id, delivery_id } = await newArtifact();
    const { url } = await storageOf(service).link({ id, delivery_id });
    const { pool } = service.database;
    await pool.query("UPDATE postern.stored_objects SET state = 'expired' WHERE id = $1", [id]);
    assert.equal((await fetch(url)).status, 404);
    await pool.query("UPDATE postern.stored_objects SET state = 'available' WHERE id = $1", [id]);
    assert.equal((await fetch(url)).status, 200);
  });
});

const place = (key: string) => join(dataDir, "storage", "objects", key);

describe("postern storage adopt", () => {
  it("makes rows again for archives and what else is of their tenants, and leaves what is not whole", async () => {
    const { pool } = service.database;
    const storage = storageOf(service);
    const { object_id: lost, delivery_id } = await newArtifact();
    const earlier = await storage.get(delivery_id);
    const { rows } = await pool.query("SELECT key FROM postern.stored_objects WHERE id = $1", [lost]);
    const { key } = rows[0];
    const forged = key.replace(delivery_id, randomUUID());
    await mkdir(dirname(place(forged)), { recursive: true });
    await copyFile(place(key), place(forged));
    await pool.query("DELETE FROM postern.stored_objects");
    await pool.query("DELETE FROM postern.storage_exports");

    await pool.query("INSERT INTO postern.tenant_settings (tenant_id, artifact_days) VALUES ('acme', 3)");
    const env = { ...service.env, PORT: new URL(service.url).port };
    const adopt = (...args: string[]) => runProgram(["storage", "adopt", ...args], env);
    const dry = await adopt("--dry-run");
    assert.match(dry.output, new RegExp(`adopted +${key} +acme`));
    assert.match(dry.output, /nothing was changed/);
    const { printed } = await adopt("--dry-run", "--json");
    const found: { key: string; outcome: string }[] = JSON.parse(printed);
    assert.equal(found.find((one) => one.key === key)?.outcome, "adopted");
    assert.equal((await storage.call("GET", `/exports/${delivery_id}`)).status, 404);
    const { code, output } = await adopt();
    assert.equal(code, 0, output);
    assert.match(output, new RegExp(`left +${forged} +its manifest is another archive's`));

    const again = await storage.get(delivery_id);
    assert.deepEqual(
      [again.status, again.from, again.to, again.progress.rows_total],
      ["ready", earlier.from, earlier.to, earlier.progress.rows_total],
    );
    const { url } = await storage.link({ id: again.object_id ?? "", delivery_id });
    assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), await readFile(place(key)));
    const until = await pool.query("SELECT deadline FROM postern.stored_objects WHERE key = $1", [key]);
    const livesMs = until.rows[0].deadline.getTime() - (await stat(place(key))).mtimeMs;
    assert.equal(Math.round(livesMs / 1000), 3 * 86_400, "the tenant's days, from when it was stored on");
    assert.match((await adopt()).output, /^0 adopted, 1 left/m);
    await rm(place(forged));
  });

  it("leaves a bucket to the command that adopts there already, and what that has under way", async () => {
    const { pool } = service.database;
    const { rows } = await pool.query<{ bucket: string }>("SELECT bucket FROM postern.storage_buckets");
    const underWay = join(dataDir, "adopting", "archive.zip");
    await mkdir(dirname(underWay), { recursive: true });
    await writeFile(underWay, "");
    const client = await pool.connect();
    try {
      await client.query("SELECT pg_advisory_lock(hashtextextended('postern.adopt ' || $1, 0))", [
        rows[0]?.bucket,
      ]);
      const { code, errors } = await runProgram(["storage", "adopt"], service.env);
      assert.equal(code, 1, errors);
      assert.match(errors, /another command is adopting objects of this bucket right now/);
      await stat(underWay);
    } finally {
      client.release(true);
    }
  });
});
