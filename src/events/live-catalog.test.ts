import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { temporaryPath } from "../../test/support/temporary.ts";
import { openCatalog } from "./live-catalog.ts";

const textOf = (...types: string[]) =>
  JSON.stringify(types.map((type) => ({ type, title: "T", description: "D", group: "G", payloadShape: {} })));

const UNCHANGED = { kind: "unchanged" };
const READ = { kind: "read" };

async function open(...types: string[]) {
  const folder = temporaryPath("live-catalog");
  await mkdir(folder);
  const file = join(folder, "catalog.json");
  await writeFile(file, textOf(...types));
  const catalog = await openCatalog(file);
  const knows = (type: string) => catalog.current().types.has(type);
  return { folder, file, catalog, knows };
}

describe("a catalog file", () => {
  it("is read again once it has changed and is the same at two looks", async () => {
    const { file, catalog, knows } = await open("a.b");
    assert.deepEqual([await catalog.look(), catalog.isRefused()], [UNCHANGED, false]);
    await writeFile(file, textOf("a.b", "a.c"));
    assert.deepEqual(await catalog.look(), UNCHANGED);
    assert.deepEqual([knows("a.c"), await catalog.look(), knows("a.c")], [false, READ, true]);
    assert.deepEqual([await catalog.look(), await catalog.look()], [UNCHANGED, UNCHANGED]);
    assert.equal(catalog.isRefused(), false);
  });

  it("is not read while it is still being written", async () => {
    const { file, catalog, knows } = await open("a.b");
    for (const types of [["a.c"], ["a.c", "a.d"], ["a.c", "a.d", "a.e"]]) {
      await writeFile(file, textOf(...types));
      assert.deepEqual(await catalog.look(), UNCHANGED);
    }
    assert.deepEqual([await catalog.look(), knows("a.e")], [READ, true]);
  });

  it("is read again when another one takes its name, of the same size and time", async () => {
    const { folder, file, catalog, knows } = await open("a.b");
    const time = new Date("2031-01-01T00:00:00Z");
    await utimes(file, time, time);
    await catalog.look();
    await catalog.look();
    const other = join(folder, "other.json");
    await writeFile(other, textOf("a.c"));
    await utimes(other, time, time);
    await rename(other, file);
    await catalog.look();
    assert.deepEqual([await catalog.look(), knows("a.c"), knows("a.b")], [READ, true, false]);
  });

  it("is read again when a link of its name leads elsewhere", async () => {
    const { folder, file } = await open("a.b");
    const link = join(folder, "link.json");
    await symlink(file, link);
    const catalog = await openCatalog(link);
    const other = join(folder, "other.json");
    await writeFile(other, textOf("a.c"));
    await rm(link);
    await symlink(other, link);
    await catalog.look();
    assert.deepEqual(await catalog.look(), READ);
    assert.ok(catalog.current().types.has("a.c"));
  });

  it("with a fault is refused once, and the former one stays until the fault is mended", async () => {
    const { file, catalog, knows } = await open("a.b");
    await writeFile(file, textOf("a b"));
    await catalog.look();
    const found = await catalog.look();
    assert.ok(found.kind === "refused");
    assert.equal(found.fault, `${file}:1: 0.type must be dotted segments of letters, digits and underscores`);
    assert.deepEqual([catalog.isRefused(), knows("a.b"), await catalog.look()], [true, true, UNCHANGED]);
    await writeFile(file, textOf("a.c"));
    await catalog.look();
    assert.deepEqual([await catalog.look(), catalog.isRefused(), knows("a.c")], [READ, false, true]);
  });

  it("that is gone, or no file any more, is refused and not waited for", async () => {
    const { file, catalog, knows } = await open("a.b");
    const fault = `${file} cannot be found, or is not a file`;
    await rm(file);
    await catalog.look();
    assert.deepEqual(await catalog.look(), { kind: "refused", fault });
    // A pipe in its place, which nobody writes.
    execFileSync("mkfifo", [file]);
    assert.deepEqual([await catalog.look(), await catalog.look()], [UNCHANGED, UNCHANGED]);
    assert.deepEqual([catalog.isRefused(), knows("a.b")], [true, true]);
    await rm(file);
    await writeFile(file, textOf("a.c"));
    await catalog.look();
    assert.deepEqual([await catalog.look(), catalog.isRefused(), knows("a.c")], [READ, false, true]);
  });

  it("that cannot be read for a moment is read soon after, though it has not changed again", async () => {
    const folder = temporaryPath("live-catalog");
    await mkdir(folder);
    const file = join(folder, "catalog.json");
    await writeFile(file, textOf("a.b"));
    // In a process that may open few files, and opens them all.
    const script = `
      import { openSync, closeSync, writeFileSync } from "node:fs";
      import { openCatalog } from ${JSON.stringify(join(import.meta.dirname, "live-catalog.ts"))};
      const [file, text] = process.argv.slice(1);
      const catalog = await openCatalog(file);
      writeFileSync(file, text);
      const opened = [];
      try { for (;;) opened.push(openSync(file)); } catch {}
      const found = [];
      for (let look = 0; look < 4; look++) found.push(await catalog.look());
      for (const one of opened) closeSync(one);
      for (let look = 0; look < 2; look++) found.push(await catalog.look());
      console.log(JSON.stringify([found, catalog.isRefused(), catalog.current().types.has("a.c")]));
    `;
    const words = ["--input-type=module", "-e", script, file, textOf("a.c")];
    const shell = ["-c", 'ulimit -n 64 && exec "$0" "$@"', process.execPath, ...words];
    const printed = execFileSync("/bin/sh", shell, { encoding: "utf8" });
    const fault = `EVENT_CATALOG: cannot read ${file}: EMFILE: too many open files, open '${file}'`;
    assert.deepEqual(JSON.parse(printed), [
      [UNCHANGED, { kind: "refused", fault }, UNCHANGED, UNCHANGED, READ, UNCHANGED],
      false,
      true,
    ]);
  });

  it("is looked at no more where it was none at the start", async () => {
    const catalog = await openCatalog(undefined);
    assert.deepEqual([await catalog.look(), await catalog.look()], [UNCHANGED, UNCHANGED]);
    assert.ok(catalog.current().types.has("invoice.paid"));
  });

  it("that cannot be read stops the start", async () => {
    await assert.rejects(openCatalog(temporaryPath("none.json")), { name: "ConfigError" });
  });
});
