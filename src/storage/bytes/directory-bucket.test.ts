import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { fastify } from "fastify";
import {
  describeBucketContract,
  newKey,
  sha256,
  signRequest,
} from "../../../test/support/bucket-contract.ts";
import { mountSmallDisk } from "../../../test/support/small-disk.ts";
import { answerError } from "../../api/error-answers.ts";
import { fileRoutes } from "../../api/routes/files.ts";
import { confirmingHead, type Bucket } from "./bucket.ts";
import { makeDirectoryBucket } from "./directory-bucket.ts";
import { FILES_PATH, makeLinkSigner } from "./file-links.ts";
import { placeExclusively } from "./directory-files.ts";
import { servedEndpoint } from "./open-bucket.ts";

const KEY = randomBytes(32);
const SIZE = 8 * 1024 * 1024;
const LINUX = { skip: process.platform !== "linux" && "only Linux counts the bytes that a process reads" };
const disk = await mountSmallDisk(1);
const ON_DISK = { skip: disk === null && "only root may mount the small disk" };
const bytesRead = async () => Number(/^rchar: ([0-9]+)$/m.exec(await readFile("/proc/self/io", "utf8"))?.[1]);
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

describeBucketContract("a folder as a bucket", serveFolder);

describe("a folder as a bucket, on disk", () => {
  let served: Awaited<ReturnType<typeof serveFolder>>;
  let bucket: Bucket;
  before(async () => {
    served = await serveFolder();
    ({ bucket } = served);
  });
  after(async () => {
    await disk?.unmount();
    await served.close();
  });

  it("holds the bytes under the key and leaves nothing else behind", async () => {
    const { key } = await put("bytes");
    assert.equal((await stat(served.placeOf(key))).size, 5);
    assert.deepEqual(await readdir(join(served.root, "uploads")), []);
  });

  it("removes the folders of the last object of a delivery", async () => {
    const { key, versionId } = await put("short-lived");
    await bucket.deleteVersion({ key, versionId });
    assert.ok(!existsSync(join(served.root, "objects", ...key.split("/").slice(0, 3))));
    assert.ok(existsSync(join(served.root, "objects")));
  });

  it("serves a link by the clock that made it, and not once its artifact is closed", async () => {
    const { key, versionId } = await put("for a while");
    const link = await linkTo(key, versionId);
    const statuses: number[] = [];
    for (const clock of [
      { aheadMs: 290_000, isClosed: false },
      { aheadMs: 310_000, isClosed: false },
      { aheadMs: 0, isClosed: true },
      { aheadMs: 0, isClosed: false },
    ]) {
      served.clock.aheadMs = clock.aheadMs;
      served.clock.isClosed = clock.isClosed;
      statuses.push((await fetch(link)).status);
    }
    assert.deepEqual(statuses, [200, 403, 404, 200]);
  });

  it("notices changed bytes, also with the same size and time", async () => {
    const { key, versionId } = await put("honest bytes");
    const link = await linkTo(key, versionId);
    // Of a whole second, which can be set again to the nanosecond.
    await utimes(served.placeOf(key), 1, 1);
    assert.equal(await (await fetch(link)).text(), "honest bytes");
    await writeFile(served.placeOf(key), "forged bytes");
    await utimes(served.placeOf(key), 1, 1);
    // The note of its digest is as it was, so only who reads the bytes can tell.
    assert.ok((await bucket.head({ bucket: bucket.name, key, version_id: versionId })).found);
    assert.equal((await fetch(link)).status, 404);
    assert.deepEqual(await bucket.get({ key, versionId }), { found: false });

    await writeFile(served.placeOf(key), "other forged bytes");
    const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
    assert.ok(head.found);
    assert.equal(head.sha256, sha256(Buffer.from("other forged bytes")));
    assert.deepEqual(await bucket.head({ bucket: bucket.name, key, version_id: versionId }), {
      found: false,
    });
  });

  it("notices other bytes of the same size by their time, without reading what is unchanged", async () => {
    const { key } = await put("honest bytes");
    await writeFile(served.placeOf(key), "forged bytes");
    await utimes(served.placeOf(key), 1, 1);
    const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
    assert.ok(head.found);
    assert.equal(head.sha256, sha256(Buffer.from("forged bytes")));
  });

  it("reads an object once for all who ask for it before its bytes are known", LINUX, async () => {
    const { key, versionId } = await put("x".repeat(SIZE));
    const link = await linkTo(key, versionId);
    // As after a start: that its bytes were read is known by their time of change too.
    await chmod(served.placeOf(key), 0o400);
    const before = await bytesRead();
    const asked = Array.from({ length: 8 }, (_, n) => fetch(link, { headers: { range: `bytes=${n}-${n}` } }));
    const answers = await Promise.all(asked.map(async (answer) => (await answer).text()));
    assert.deepEqual(answers, Array(8).fill("x"));
    const read = (await bytesRead()) - before;
    assert.ok(read < 2 * SIZE, `${read} bytes were read`);
  });

  it("keeps no file open whose bytes are not those asked for", async () => {
    const { key } = await put("of another version");
    const nextDescriptor = async () => {
      const file = await open(served.placeOf(key));
      // A closed one has no number.
      const { fd } = file;
      await file.close();
      return fd;
    };
    const descriptors = [];
    for (let n = 0; n < 100; n++) {
      await bucket.get({ key, versionId: sha256(Buffer.from("asked for")) });
      descriptors.push(await nextDescriptor());
    }
    // The least free one each time.
    assert.ok(new Set(descriptors).size < 50, descriptors.join(" "));
  });

  it("removes uploads that a process left a day ago, and none that is under way", async () => {
    const other = await serveFolder();
    const uploads = join(other.root, "uploads");
    await mkdir(uploads);
    for (const [name, minutes] of [
      ["left", 1441],
      ["under way", 1439],
    ] as const) {
      await writeFile(join(uploads, name), "half");
      await utimes(join(uploads, name), minutesAgo(minutes), minutesAgo(minutes));
    }
    const bytes = Buffer.from("first upload of a process");
    const upload = {
      key: newKey(),
      size: bytes.length,
      sha256: sha256(bytes),
      open: () => Readable.from([bytes]),
    };
    assert.equal((await other.bucket.put(upload)).code, "stored");
    assert.deepEqual(await readdir(uploads), ["under way"]);
    await other.close();
  });

  it("needs no note of a digest: one that is lost or torn is made anew", async () => {
    const { key, versionId } = await put("noted");
    const note = join(served.root, "digests", `${key}.json`);
    const request = { bucket: bucket.name, key, version_id: versionId };
    await rm(note);
    assert.ok((await bucket.head(request)).found);
    await writeFile(note, '{"size":"5');
    assert.ok((await bucket.head(request)).found);
  });

  it("needs no note of a digest that it can neither read nor replace, as one of another user", async () => {
    const { key, versionId } = await put("noted by another");
    const link = await linkTo(key, versionId);
    const [note, uploads] = [join(served.root, "digests", `${key}.json`), join(served.root, "uploads")];
    await rm(note);
    // Neither can be read or written as what it should be, also by root.
    await mkdir(note);
    await rename(uploads, `${uploads}-kept`);
    await writeFile(uploads, "a file in its place");
    assert.ok((await bucket.head({ bucket: bucket.name, key, version_id: versionId })).found);
    assert.equal(await (await fetch(link)).text(), "noted by another");
    await rm(uploads);
    await rename(`${uploads}-kept`, uploads);
    await bucket.deleteVersion({ key, versionId });
    assert.ok(!existsSync(served.placeOf(key)));
  });

  it(
    "forgets a digest before its bytes, which are looked for again if it is killed in between",
    ON_DISK,
    async () => {
      assert.ok(disk !== null);
      const digests = join(served.root, "of-another-disk");
      await mkdir(digests);
      await symlink(digests, join(disk.folder, "digests"));
      const other = makeDirectoryBucket({
        root: disk.folder,
        signer: makeLinkSigner([KEY]),
        endpoint: () => bucket.endpoint(),
      });
      const [key, bytes] = [newKey(), Buffer.from("erased")];
      const open = () => Readable.from([bytes]);
      const stored = await other.put({ key, size: bytes.length, sha256: sha256(bytes), open });
      assert.ok(stored.code === "stored");
      const note = join(digests, `${key}.json`);
      await mkdir(dirname(note), { recursive: true });
      await writeFile(note, "{}");
      // As a kill does, a disk that takes no more writes ends it in the middle.
      await disk.remount("ro");
      await assert.rejects(other.deleteVersion({ key, versionId: stored.versionId }), /EROFS/);
      const left = [note, join(disk.folder, "objects", key)].map((path) => existsSync(path));
      assert.deepEqual(left, [false, true]);
    },
  );

  it("follows no symbolic link, neither to a file nor through a folder", async () => {
    const secret = join(served.root, "secret.txt");
    await writeFile(secret, "not yours");
    const [file, throughFolder] = [newKey(), newKey()];
    await mkdir(dirname(served.placeOf(file)), { recursive: true });
    await symlink(secret, served.placeOf(file));
    const elsewhere = join(served.root, "elsewhere");
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, "request_body.json"), "not yours");
    await mkdir(dirname(dirname(served.placeOf(throughFolder))), { recursive: true });
    await symlink(elsewhere, dirname(served.placeOf(throughFolder)));
    for (const key of [file, throughFolder]) {
      assert.deepEqual(await bucket.head({ bucket: bucket.name, key, version_id: null }), { found: false });
      const { objects } = await bucket.list({ after: null, limit: 1000 });
      assert.ok(!objects.some((object) => object.key === key));
    }
  });

  it("lists a planted file, and no other version of its name", async () => {
    await writeFile(join(served.root, "objects", "planted.txt"), "?");
    const { objects } = await bucket.list({ after: null, limit: 1 });
    assert.deepEqual(
      objects.map(({ key, etag, size }) => ({ key, etag, size })),
      [{ key: "planted.txt", etag: "foreign", size: 1 }],
    );
  });

  async function keysBehind(after: string | null, limit: number): Promise<string[]> {
    return (await bucket.list({ after, limit })).objects.map(({ key }) => key);
  }

  it("lists page by page what is there when each page is asked for", async () => {
    for (let n = 0; n < 7; n++) await put(`page ${n}`);
    const all = await keysBehind(null, 1000);
    assert.deepEqual(await keysBehind(null, 3), all.slice(0, 3));
    const gone = all[3] ?? "";
    await rm(served.placeOf(gone));
    assert.deepEqual(await keysBehind(all[2] ?? "", 2), all.slice(4, 6));
    // Another page than the next one begins anew.
    assert.deepEqual(await keysBehind(all[0] ?? "", 2), all.slice(1, 3));
    assert.deepEqual(await keysBehind(all[2] ?? "", 1000), all.slice(4));
  });

  it("walks anew where the page before is older than five minutes, so that what came meanwhile is listed", async (test) => {
    const [early, late] = ["!early.txt", "!late.txt"].map((name) => join(served.root, "objects", name));
    assert.ok(early !== undefined && late !== undefined);
    await writeFile(early, "");
    assert.deepEqual(await keysBehind(null, 1), ["!early.txt"]);
    await writeFile(late, "");
    const now = performance.now.bind(performance);
    test.mock.method(performance, "now", () => now() + 300_000);
    assert.deepEqual(await keysBehind("!early.txt", 1), ["!late.txt"]);
    await Promise.all([rm(early), rm(late)]);
  });

  it("says that it cannot tell, instead of not found, where the folder of all objects is gone", async () => {
    const { key, versionId } = await put("out of reach");
    const objects = join(served.root, "objects");
    await rename(objects, `${objects}-unmounted`);
    const request = { bucket: bucket.name, key, version_id: versionId };
    await assert.rejects(bucket.head(request), { name: "StoreUnavailableError" });
    await assert.rejects(bucket.get({ key, versionId }), { name: "StoreUnavailableError" });
    await writeFile(objects, "a file in its place");
    await assert.rejects(put("nowhere"), { name: "StoreUnavailableError" });
    await rm(objects);
    await rename(`${objects}-unmounted`, objects);
    assert.ok((await bucket.head(request)).found);
  });

  it("gives up a finished file that was removed before it had its place", async () => {
    const removed = placeExclusively(join(served.root, "uploads", "removed"), served.placeOf(newKey()));
    await assert.rejects(removed, { code: "ENOENT" });
  });

  it("says that it cannot tell, instead of not found, where the file cannot be opened", async () => {
    const { key, versionId } = await put("unreadable");
    // A socket is what root can't open either. Bound from within the folder, because its path must be short.
    const former = process.cwd();
    process.chdir(served.root);
    const server = createServer().listen("socket");
    process.chdir(former);
    await once(server, "listening");
    await rename(join(served.root, "socket"), served.placeOf(key));
    server.close();
    const request = { bucket: bucket.name, key, version_id: versionId };
    await assert.rejects(bucket.head(request), { name: "StoreUnavailableError" });
    assert.deepEqual(await confirmingHead(bucket).head(request), { error: "unavailable" });
    assert.equal((await fetch(await linkTo(key, versionId))).status, 503);
  });

  it("accepts links that a former key of the ring signed, and none of a strange key", async () => {
    const { key, versionId } = await put("rotated");
    const request = signRequest(bucket, key, versionId);
    const endpoint = bucket.endpoint();
    const rotated = makeLinkSigner([randomBytes(32), KEY]);
    const query = new URL(makeLinkSigner([KEY]).sign(endpoint, request)).search.slice(1);
    const place = `${bucket.name}/${key}`;
    assert.notEqual(rotated.verify({ place, query }), null);
    assert.equal(makeLinkSigner([randomBytes(32)]).verify({ place, query }), null);
  });

  async function put(text: string): Promise<{ key: string; versionId: string }> {
    const key = newKey();
    const bytes = Buffer.from(text);
    const open = () => Readable.from([bytes]);
    const answer = await bucket.put({ key, size: bytes.length, sha256: sha256(bytes), open });
    assert.equal(answer.code, "stored");
    const opened = await bucket.get({ key, versionId: answer.versionId });
    assert.ok(opened.found);
    assert.deepEqual(await buffer(opened.body), bytes);
    return { key, versionId: answer.versionId };
  }

  async function linkTo(key: string, versionId: string): Promise<string> {
    return (await bucket.signGet(signRequest(bucket, key, versionId))).url;
  }
});

/** A bucket in a new folder, served by the API's own route under a base path. */
async function serveFolder() {
  const root = await mkdtemp(join(tmpdir(), "postern-bucket-"));
  const signer = makeLinkSigner([KEY]);
  let port = 0;
  const clock = { aheadMs: 0, isClosed: false };
  const basePath = "/postern";
  const endpoint = () => servedEndpoint({ publicUrl: undefined, host: "127.0.0.1", port, basePath });
  const bucket = makeDirectoryBucket({ root, signer, endpoint });
  const app = fastify();
  app.setErrorHandler(answerError);
  await app.register(
    async (files) =>
      fileRoutes(files, {
        signer,
        buckets: new Map([
          [
            bucket.name,
            {
              bucket,
              stateOfLink: async () => ({ nowMs: Date.now() + clock.aheadMs, isClosed: clock.isClosed }),
            },
          ],
        ]),
      }),
    {
      prefix: `${basePath}${FILES_PATH}`,
    },
  );
  port = Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
  return {
    root,
    bucket,
    clock,
    placeOf: (key: string) => join(root, "objects", key),
    async close() {
      await app.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
