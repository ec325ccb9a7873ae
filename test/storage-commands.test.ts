/** `postern storage` against a running program. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { lastHour, ndjsonRows, seedMany, storageOf, unpack } from "./support/exports.ts";
import { runProgram } from "./support/program.ts";
import { startTestService, type TestService } from "./support/service.ts";

let dataDir: string;
let service: TestService;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-commands-"));
  service = await startTestService({ env: { DATA_DIR: dataDir } });
  await seedMany(service.database.pool, "acme", 5);
});
after(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const run = (...args: string[]) => runProgram(["storage", ...args], service.env);

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
    assert.match(mistaken.output, /--from yesterday is no time/);
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
    assert.match(output, /--output \/absent\/log\.zip: the folder \/absent is not there/);
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
    const unasked = await run("erase", "--tenant", "acme");
    assert.equal(unasked.code, 1);
    assert.match(unasked.output, /Erase 1 of acme\? It cannot be undone\. Add --yes\./);
    const foreign = await run("erase", "--tenant", "globex", "--object", item.id, "--yes");
    assert.match(foreign.output, /^0 erased/m);
    assert.equal((await storage.library()).items[0]?.status, "ready");

    await service.database.pool.query("UPDATE postern.stored_objects SET hold = true WHERE id = $1", [
      item.id,
    ]);
    assert.match((await run("erase", "--tenant", "acme", "--yes")).output, /left {4}.* it is held/);
    await service.database.pool.query("UPDATE postern.stored_objects SET hold = false WHERE id = $1", [
      item.id,
    ]);
    const erased = await run("erase", "--tenant", "acme", "--yes", "--json");
    assert.equal(erased.code, 0, erased.output);
    assert.deepEqual(
      JSON.parse(erased.output).erased.map(({ id, size }: { id: string; size: number }) => [id, size]),
      [[item.id, item.size]],
    );
    const { rows: told } = await service.database.pool.query(
      `SELECT tenant_id, actor_type, actor_sub, outcome, details FROM postern.audit_log
        WHERE action = 'artifact.erased'`,
    );
    const details = { object_id: item.id, delivery_id: item.delivery_id, kind: "export" };
    assert.deepEqual(told, [
      { tenant_id: "acme", actor_type: "operator", actor_sub: null, outcome: "done", details },
    ]);
    const json = { delivery_id: item.delivery_id };
    assert.equal((await storage.call("POST", `/objects/${item.id}/download`, { json })).status, 410);
  });
});
