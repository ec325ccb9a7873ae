import assert from "node:assert/strict";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
  lstat,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { chownAll, copyFolderOnce, secretFile } from "./embedded-files.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-files-"));
});
after(() => rm(folder, { recursive: true }));

describe("a secret's file", () => {
  it("is made once, for its user's eyes alone, and leaves no draft behind", async () => {
    const path = join(folder, "secret", "password");
    await mkdir(join(folder, "secret"));
    let made = 0;
    const texts = await Promise.all([1, 2, 3].map(() => secretFile(path, () => `made ${made++}`)));
    assert.equal(new Set(texts).size, 1);
    assert.equal(await secretFile(path, () => assert.fail("it is there")), texts[0]);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(join(folder, "secret")), ["password"]);
  });

  it("that cannot be made is an error", async () => {
    await assert.rejects(
      secretFile(join(folder, "nowhere", "password"), () => ""),
      { code: "ENOENT" },
    );
  });
});

describe("a copy of a folder", () => {
  it("has all of it with its links as they are, is made once, and leaves no draft behind", async () => {
    const [from, to] = [join(folder, "from"), join(folder, "copies", "to")];
    await mkdir(join(from, "deep"), { recursive: true });
    await writeFile(join(from, "deep", "file"), "text");
    await symlink("deep/file", join(from, "link"));
    await chmod(join(from, "deep", "file"), 0o444);
    await chmod(join(from, "deep"), 0o555);
    await chmod(from, 0o511);
    await Promise.all([1, 2, 3].map(() => copyFolderOnce(from, to)));
    assert.equal(await readFile(join(to, "deep", "file"), "utf8"), "text");
    assert.equal(await readlink(join(to, "link")), "deep/file");
    const copies = [to, join(to, "deep"), join(to, "deep", "file")];
    const modes = await Promise.all(copies.map(async (path) => (await stat(path)).mode & 0o777));
    assert.deepEqual(modes, [0o711, 0o755, 0o444], "its owner may write in it");
    assert.deepEqual(await readdir(join(folder, "copies")), ["to"]);
    // Only root may remove what is in a folder that can just be read.
    await Promise.all([from, join(from, "deep")].map((path) => chmod(path, 0o755)));
    await writeFile(join(from, "later"), "");
    await copyFolderOnce(from, to);
    assert.deepEqual((await readdir(to)).sort(), ["deep", "link"]);
  });

  it("of what is not there is an error, and nothing is left of it", async () => {
    const to = join(folder, "of nothing", "to");
    await assert.rejects(copyFolderOnce(join(folder, "nothing"), to), { code: "ENOENT" });
    assert.deepEqual(await readdir(join(folder, "of nothing")), []);
  });
});

const isRoot = process.getuid?.() === 0;
it(
  "a folder is given to a user with all that is in it",
  { skip: isRoot ? false : "needs root" },
  async () => {
    const own = join(folder, "own");
    await mkdir(join(own, "deep"), { recursive: true });
    await writeFile(join(own, "deep", "file"), "");
    await symlink(join(folder), join(own, "link"));
    await chownAll(own, 65534, 65533);
    for (const path of [own, join(own, "deep"), join(own, "deep", "file"), join(own, "link")]) {
      const { uid, gid } = await lstat(path);
      assert.deepEqual([uid, gid], [65534, 65533], path);
    }
    assert.equal((await stat(folder)).uid, 0, "a link's end is another's");
  },
);
