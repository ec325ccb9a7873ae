/** A file of an archive on its way: what is said of it is true of its bytes. */
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import fs, { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { crc32, inflateRawSync } from "node:zlib";
import { mountSmallDisk } from "../../../test/support/small-disk.ts";
import { openPartFile, writeFiles } from "./part-file.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-part-"));
});
after(() => rm(folder, { recursive: true, force: true }));

function newFile() {
  const id = randomUUID();
  const place = join(folder, id);
  return { place, id, file: openPartFile(place, { id, path: "a/b.txt" }) };
}

describe("a staged file", () => {
  it("is written deflated, and described by what went in", async () => {
    const { place, id, file } = newFile();
    assert.equal(file.size(), 0);
    await file.write(Buffer.from("first "));
    assert.equal(file.size(), 6);
    await file.writeText("second é");
    assert.equal(file.size(), 15);
    const staged = await file.finish();
    const content = Buffer.from("first second é");
    const deflated = await readFile(place);
    assert.deepEqual(staged, {
      id,
      path: "a/b.txt",
      size: 15,
      sha256: createHash("sha256").update(content).digest("hex"),
      crc32: crc32(content),
      method: 8,
      compressed_size: deflated.length,
    });
    assert.deepEqual(inflateRawSync(deflated), content);
    assert.equal((await stat(place)).mode & 0o777, 0o600);
  });

  it("takes a text of any length, of letters of any number of bytes", async () => {
    const { place, file } = newFile();
    // Odd, so that a letter of four bytes lies across the end of each stretch; and it does not deflate well.
    const text = `a${"😀".repeat(20_000)}é${Array.from({ length: 30_000 }, (_, n) => n).join()}`;
    await file.writeText(text);
    await file.writeText("");
    const { size } = await file.finish();
    assert.equal(size, Buffer.byteLength(text));
    assert.equal(inflateRawSync(await readFile(place)).toString("utf8"), text);
  });

  it("is stored as it is where it deflates so well that an archive of it would be refused", async () => {
    const { place, file } = newFile();
    const content = Buffer.alloc(500_000, "x");
    await file.write(content);
    const staged = await file.finish();
    assert.deepEqual([staged.method, staged.compressed_size, staged.size], [0, 500_000, 500_000]);
    assert.deepEqual(await readFile(place), content);
    assert.equal((await stat(place)).mode & 0o777, 0o600);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.includes("stored")),
      [],
    );
  });

  it("is deflated up to half the ratio that an archive may have", async () => {
    const facts = [];
    for (const size of [1200, 1201]) {
      const { file } = newFile();
      await file.write(Buffer.alloc(size, "x"));
      const { method, compressed_size: compressed } = await file.finish();
      facts.push([method, compressed]);
    }
    assert.deepEqual(facts, [
      [8, 12],
      [0, 1201],
    ]);
  });

  it("leaves nothing when it is given up", async () => {
    const { place, file } = newFile();
    await file.write(Buffer.alloc(1_000_000, "x"));
    await file.discard();
    assert.ok(!existsSync(place));
    await file.discard();
  });

  it("takes no file's place: what the disk says is the failure", async () => {
    const id = randomUUID();
    const place = join(folder, id);
    await writeFile(place, "another's");
    const file = openPartFile(place, { id, path: "a" });
    await assert.rejects(
      async () => {
        for (;;) await file.write(Buffer.alloc(100_000));
      },
      { code: "EEXIST" },
    );
    await assert.rejects(file.finish(), { code: "EEXIST" });
    assert.equal(await readFile(place, "utf8"), "another's");
  });
});

describe("staged files that are written together", () => {
  it("fail for the first reason, where what was written of them cannot go either", async () => {
    const place = join(folder, randomUUID());
    await writeFile(place, "no folder");
    // Of a file below it, neither the making nor the removal succeeds.
    const file = openPartFile(join(place, "part"), { id: randomUUID(), path: "a" });
    const full = new Error("the log cannot be read");
    const failing = writeFiles([file, newFile().file], async () => Promise.reject(full));
    await assert.rejects(failing, full);
  });
});

const disk = await mountSmallDisk(1);
const SLOW_DISK_MS = 20;

describe(
  "a file for which the disk has no room",
  { skip: disk === null && "only root may mount the small disk" },
  () => {
    after(() => disk?.unmount());

    it("leaves nothing, nor does the draft that would be stored as it is", async () => {
      const place = join(disk?.folder ?? "", "part");
      const file = openPartFile(place, { id: randomUUID(), path: "a/b.txt" });
      await file.write(Buffer.alloc(2_000_000, "x"));
      await assert.rejects(file.finish(), { code: "ENOSPC" });
      await file.discard();
      assert.deepEqual(await readdir(disk?.folder ?? ""), []);
    });

    it("ends a write that waits for a slow disk to take what came before", async (test) => {
      for (const name of ["write", "writev"] as const) {
        const now = fs[name];
        // So that the next bytes are deflated, and wait, before the disk refuses these.
        test.mock.method(fs, name, (...args: unknown[]) =>
          setTimeout(() => Reflect.apply(now, fs, args), SLOW_DISK_MS),
        );
      }
      const file = openPartFile(join(disk?.folder ?? "", "part"), { id: randomUUID(), path: "a/b.txt" });
      await assert.rejects(file.write(randomBytes(4_000_000)), { code: "ENOSPC" });
      await file.discard();
      assert.deepEqual(await readdir(disk?.folder ?? ""), []);
    });
  },
);
