import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isFunction, isNumbered, readMigrations } from "./migration-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-files-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(...files: string[]): Promise<void> {
  await mkdir(join(folder, "functions"), { recursive: true });
  for (const file of files) await writeFile(join(folder, file), `-- ${file}\r\nSELECT 1;\r\n`);
}

describe("the files that make the schema", () => {
  it("are those with numbers in their order and then the functions, with their texts and hashes", async () => {
    await write("0010_third.sql", "0002_second.sql", "0001_first_1.sql", "readme.md");
    await write("functions/publish.sql", "functions/a_1.sql", "functions/a.txt");
    const read = await readMigrations(folder);
    const expected = [
      ["0001_first_1.sql", "first_1", 1],
      ["0002_second.sql", "second", 2],
      ["0010_third.sql", "third", 10],
      ["functions/a_1.sql", "a_1", null],
      ["functions/publish.sql", "publish", null],
    ].map(([file, name, version]) => {
      const sql = `-- ${file}\nSELECT 1;\n`;
      return { file, name, version, sql, sha256: createHash("sha256").update(sql).digest("hex") };
    });
    assert.deepEqual(read, expected);
    assert.deepEqual([read.filter(isNumbered), read.filter(isFunction)], [read.slice(0, 3), read.slice(3)]);
  });

  it("may have no functions, but must be there", async () => {
    await writeFile(join(folder, "0001_a.sql"), "");
    assert.equal((await readMigrations(folder)).length, 1);
    await assert.rejects(readMigrations(join(folder, "none")), { code: "ENOENT" });
    await writeFile(join(folder, "functions"), "a file");
    await assert.rejects(readMigrations(folder), { code: "ENOTDIR" });
  });

  it("are refused by names that do not fit", async () => {
    for (const file of [
      "a.sql",
      "001_a.sql",
      "00001_a.sql",
      "0001-a.sql",
      "0001_A.sql",
      "0001_.sql",
      "x0001_a.sql",
      "0001_a.b.sql",
    ]) {
      await write(file);
      const message = `${join(folder, file)} is not named like 0001_create_endpoints.sql. Rename it.`;
      await assert.rejects(readMigrations(folder), { message });
      await rm(join(folder, file));
    }
    for (const file of ["functions/A.sql", "functions/a-b.sql", "functions/.sql"]) {
      await write(file);
      const message = `${join(folder, file)} is not named like publish.sql. Rename it.`;
      await assert.rejects(readMigrations(folder), { message });
      await rm(join(folder, file));
    }
  });

  it("are refused where two have the same number", async () => {
    await write("0001_a.sql", "0002_b.sql", "0002_c.sql");
    const message = "0002_b.sql and 0002_c.sql have the same number. Renumber the newer one.";
    await assert.rejects(readMigrations(folder), { message });
  });
});
