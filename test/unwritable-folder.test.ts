/** A DATA_DIR on a disk that is read-only, as after a fault of the disk, or by a mistake in a mount. */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeSecrets, type Environment } from "../src/config.ts";
import { runProgram } from "./support/program.ts";
import { mountSmallDisk, type SmallDisk } from "./support/small-disk.ts";

describe("a DATA_DIR that is read-only", () => {
  let disk: SmallDisk | null = null;
  before(async () => {
    disk = await mountSmallDisk(4);
    if (disk === null) return;
    await mkdir(join(disk.folder, "kept", "postgres"), { recursive: true });
    await disk.remount("ro");
  });
  after(() => disk?.unmount());

  for (const [folder, args] of [
    [".", ["up"]],
    ["new", ["up"]],
    ["kept", ["up"]],
    ["new", ["up", "--demo"]],
    ["kept", ["up", "--demo"]],
  ] as const) {
    it(`is told in two lines by \`${args.join(" ")}\` in the folder ${folder}`, async (context) => {
      if (disk === null) return context.skip("this user may not mount a disk");
      const dataDir = join(disk.folder, folder);
      const secrets: Environment = args.length > 1 ? {} : makeSecrets();
      const { code, errors } = await runProgram([...args], { ...secrets, DATA_DIR: dataDir, PORT: "0" });
      assert.equal(code, 1, errors);
      const lines = errors.slice(errors.indexOf("postern:\n")).trimEnd().split("\n").slice(1);
      assert.equal(lines.length, 2, errors);
      assert.match(lines[0] ?? "", /EROFS: read-only file system/);
      assert.match(lines[1] ?? "", /set DATA_DIR to another/);
    });
  }

  it("is found by `postern doctor`, for the folder and for the embedded database", async (context) => {
    if (disk === null) return context.skip("this user may not mount a disk");
    const { code, printed } = await runProgram(["doctor"], {
      ...makeSecrets(),
      DATA_DIR: join(disk.folder, "new"),
    });
    assert.equal(code, 1);
    assert.match(printed, /^fail {2}data folder: EROFS: read-only file system/m);
    assert.match(
      printed,
      /^fail {2}database: .*EROFS: read-only file system.*\n {6}→ .*set DATA_DIR to another/m,
    );
  });
});
