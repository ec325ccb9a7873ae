/** From parts of files to an archive that holds them as they are. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { ARCHIVED_AT, buildArchive } from "../../../test/support/built-archive.ts";
import { openFilesBelow } from "../../../test/support/open-files.ts";
import { writeArchive } from "./archive-writer.ts";
import { judgeArchive } from "./judge-archive.ts";
import { openPartFile, type StagedFile } from "./part-file.ts";

const MODIFIED_AT = new Date("2026-03-01T12:00:00Z");

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-writer-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const newPlace = () => join(folder, randomUUID());
const placeOf = ({ id }: Pick<StagedFile, "id">) => join(folder, id);
const never = new AbortController().signal;

async function stage(path: string, text: string): Promise<StagedFile> {
  const id = randomUUID();
  const file = openPartFile(placeOf({ id }), { id, path });
  await file.writeText(text);
  return file.finish();
}

/** So many different characters, which deflate little. */
function noise(length: number): string {
  let text = "";
  for (let n = 0; text.length < length; n++) text += createHash("sha256").update(String(n)).digest("hex");
  return text.slice(0, length);
}

function write(place: string, files: readonly StagedFile[], signal = never) {
  return writeArchive(place, files, { placeOf, modifiedAt: MODIFIED_AT, signal });
}

describe("an archive that is written", () => {
  it("holds every file as it went in, and says its own size and digest", async () => {
    // Larger than what is copied at once, and of a length that is no multiple of it.
    const texts = new Map([
      ["b/first.txt", "text"],
      ["a/large.txt", noise(700_001)],
      ["empty.txt", ""],
      ["flat.txt", "x".repeat(100_000)],
    ]);
    const files: StagedFile[] = [];
    for (const [path, text] of texts) files.push(await stage(path, text));
    const place = newPlace();
    const written = await write(place, files);
    const bytes = await readFile(place);
    assert.deepEqual(written, {
      size: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
    const promised = { tenantId: randomUUID(), exportId: randomUUID(), files };
    assert.equal((await judgeArchive(place, promised)).code, "VALID");
    const again = newPlace();
    assert.deepEqual(await write(again, files), written);
  });

  it("is byte by byte the one of its files, with the time that was given", async () => {
    assert.deepEqual(ARCHIVED_AT, { time: 12 << 11, date: (46 << 9) | (3 << 5) | 1 });
    const { bytes, files } = buildArchive([{ method: 0 }, { method: 0 }]);
    for (const [index, file] of files.entries()) await writeFile(placeOf(file), `content ${index}`);
    const place = newPlace();
    await write(place, files);
    assert.deepEqual(await readFile(place), bytes);
  });

  it("is its owner's alone", async () => {
    const place = newPlace();
    await write(place, []);
    assert.equal((await stat(place)).mode & 0o777, 0o600);
  });

  it("takes no file's place, and needs all of its files", async () => {
    const place = newPlace();
    await writeFile(place, "another's");
    await assert.rejects(write(place, []), { code: "EEXIST" });
    assert.equal(await readFile(place, "utf8"), "another's");
    const [file] = buildArchive([{}]).files;
    assert.ok(file !== undefined);
    await assert.rejects(write(newPlace(), [{ ...file, id: randomUUID() }]), { code: "ENOENT" });
  });

  it("is left when that is asked for, for the reason given", async () => {
    const reason = new Error("enough");
    const place = newPlace();
    const files = [await stage("a.txt", "a")];
    await assert.rejects(write(place, files, AbortSignal.abort(reason)), reason);
    assert.ok(existsSync(place));
    assert.equal((await stat(place)).size, 0);
    assert.deepEqual(await openFilesBelow(folder), []);
  });
});
