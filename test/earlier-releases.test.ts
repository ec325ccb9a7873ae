/** The newest program on the data of each earlier release (test/releases), and beside and after that release's program. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import type { Environment } from "../src/config.ts";
import { VERSION } from "../src/shared/version.ts";
import { patchEndpoint, wholeLog } from "./support/api.ts";
import { ndjsonRows, storageOf, unpack } from "./support/exports.ts";
import type { TestDatabase } from "./support/postgres.ts";
import { type Program, runProgram, sharedSettings, startProgram } from "./support/program.ts";
import { serviceSignature, webhookSignature } from "./support/receivers.ts";
import { byEndpoint } from "./support/stats.ts";
import { bringRelease, readReleases, type Release, restoreRelease } from "./support/releases.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { type ReceivedRequest, startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let receiver: TlsReceiver;
before(async () => {
  receiver = await startReceiver();
});
after(() => receiver.close());

type Restored = { release: Release; env: Environment; database: TestDatabase; remove(): Promise<void> };

/** The release's database and stored files, and the settings of a program on them. */
async function restore(release: Release): Promise<Restored> {
  const dataDir = await mkdtemp(join(tmpdir(), "postern-restored-"));
  const database = await restoreRelease(release, { receiver: new URL(receiver.url).origin, dataDir });
  const shared = await sharedSettings(database.url, receiver.caPem);
  // However old the data are, they must not have ended.
  const kept = { RETENTION_DAYS: "3650", ARTIFACT_DAYS: "3650" };
  return {
    release,
    database,
    env: { ...shared, ...release.secrets, ...kept, DATA_DIR: dataDir },
    async remove() {
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Waits until an event of this note came to this path, and checks that its endpoint's secrets signed it. */
async function delivered({ release }: Restored, path: string, note: string): Promise<void> {
  const request = await eventually(() =>
    Promise.resolve(receiver.requests.find((one) => one.path === path && noteOf(one) === note)),
  );
  const endpoint = release.endpoints.find((one) => one.path === path);
  assert.ok(endpoint !== undefined);
  assert.equal(request.headers["x-service-signature"], serviceSignature(endpoint.secret, request));
  const signatures = String(request.headers["webhook-signature"]).split(" ");
  assert.ok(signatures.includes(webhookSignature(endpoint.secret, request)));
  assert.equal(request.headers["authorization"], endpoint.authorization);
}

function noteOf({ body }: ReceivedRequest): unknown {
  const { data }: { data?: { note?: unknown } } = JSON.parse(body.toString("utf8"));
  return data?.note;
}

async function publish(program: Program, note: string): Promise<void> {
  const json = { type: "invoice.paid", data: { note } };
  const { status, text } = await program.call("POST", "/api/events", { as: PRODUCER, json });
  assert.equal(status, 202, text);
}

const listed = z.object({ deliveries: z.array(z.object({ id: z.string() })) });

/** Of whichever release, so without the fields that came later. */
async function newestIds(program: Program, id: string): Promise<string[]> {
  const { body } = await program.call("GET", `/api/webhooks/${id}/deliveries?limit=50`);
  return listed.parse(body).deliveries.map((delivery) => delivery.id);
}

/** Both programs accept and deliver at once: every event comes to the endpoint, and log and statistics have each attempt once. */
async function shareWork({ release }: Restored, older: Program, newest: Program): Promise<void> {
  const id = release.endpoints.find(({ path }) => path === "/works")?.id ?? "";
  const rows = async () => (await wholeLog(newest, id)).length;
  const counted = async () => {
    const { body } = await newest.call("GET", "/api/stats/endpoints?window=24h");
    return byEndpoint.parse(body).endpoints.find(({ endpoint_id: one }) => one === id)?.delivered ?? 0;
  };
  // What came before is noted a moment after its receiver has it.
  await eventually(async () => {
    const { body } = await newest.call("GET", `/api/webhooks/${id}/deliveries?status=pending`);
    return listed.parse(body).deliveries.length === 0;
  });
  const before = { rows: await rows(), delivered: await counted() };
  const each = 20;
  const numbers = Array.from({ length: each }, (_, index) => index);
  await Promise.all(numbers.flatMap((n) => [publish(older, `older ${n}`), publish(newest, `newest ${n}`)]));
  await eventually(async () => (await rows()) === before.rows + 2 * each);
  await eventually(async () => (await counted()) === before.delivered + 2 * each);
  assert.deepEqual(await newestIds(older, id), await newestIds(newest, id));
  const notes = receiver.requests.filter(({ path }) => path === "/works").map(noteOf);
  for (const n of numbers) {
    for (const note of [`older ${n}`, `newest ${n}`])
      assert.equal(notes.filter((one) => one === note).length, 1, note);
  }
}

const releases = await readReleases();

describe("the newest program", () => {
  it("has a version of its own from the day on which a release is out, so that it runs beside that release", () => {
    assert.ok(
      !releases.some(({ version }) => version === VERSION),
      "give it the next: docs/how-to/release.md",
    );
  });
});

for (const release of releases) {
  describe(`the newest program on the data of ${release.version}`, () => {
    let restored: Restored;
    let program: Program;
    before(async () => {
      receiver.requests.length = 0;
      restored = await restore(release);
      program = await startProgram(["up"], restored.env);
    });
    after(async () => {
      await program.end("SIGTERM");
      await restored.remove();
    });

    it("delivers what was pending, signed with each endpoint's secret", async () => {
      assert.ok(release.pending.length > 0);
      for (const { path, note } of release.pending) await delivered(restored, path, note);
    });

    it("delivers what was held, once its endpoint is enabled", async () => {
      const held = release.endpoints.find(({ path }) => path === "/held");
      await patchEndpoint(program, held?.id ?? "", { enabled: true });
      await delivered(restored, "/held", "held");
    });

    it("shows the log, and retries what failed there", async () => {
      const logs = await Promise.all(release.endpoints.map(({ id }) => wholeLog(program, id)));
      const rows = logs.flat();
      assert.ok(rows.length >= release.deliveries + release.pending.length, `${rows.length} rows`);
      const failed = rows.find(({ id }) => id === release.failedDelivery);
      assert.equal(failed?.status, "failed");
      assert.match(failed?.response_body ?? "", /^answer of \/fails/);
      const { endpoint_id: endpointId } = failed ?? {};
      const retry = `/api/webhooks/${endpointId}/deliveries/${release.failedDelivery}/retry`;
      const { status, text } = await program.call("POST", retry);
      assert.equal(status, 200, text);
      assert.match(text, /"status":"delivered"/);
    });

    it("gives out what was stored: bodies of attempts, and the export", async () => {
      const storage = storageOf(program);
      const { items } = await storage.library("?limit=100&kind=response_body");
      const [body] = items;
      assert.ok(body !== undefined);
      const link = await storage.link(body);
      assert.match(await (await fetch(link.url)).text(), /^answer of \/(works|fails)/);
      const found = await storage.get(release.exportId);
      const exported = ndjsonRows(await unpack(await storage.download(found)));
      assert.ok(exported.length > 0 && exported.length <= release.deliveries);
    });

    it("opens every stored secret, and shows the audit log", async () => {
      const { code, output } = await runProgram(["keys", "status"], restored.env);
      assert.equal(code, 0, output);
      const audit = await program.call("GET", "/api/audit");
      assert.match(audit.text, /"action":"endpoint\.created"/);
    });
  });

  describe(`the newest program beside and after that of ${release.version}`, () => {
    const former = bringRelease(release);
    let restored: Restored;
    before(async () => {
      receiver.requests.length = 0;
      restored = await restore(release);
    });
    after(() => restored.remove());

    it("migrates under it, delivers beside it, and leaves it a way back", async (context) => {
      if ("missing" in former) return context.skip(`DID NOT RUN: ${former.missing}`);
      const older = await startProgram(["up"], restored.env, former.main);
      for (const { path, note } of release.pending) await delivered(restored, path, note);
      const { code, output } = await runProgram(["migrate"], restored.env);
      assert.equal(code, 0, output);
      await publish(older, "older, migrated");
      await delivered(restored, "/works", "older, migrated");

      const newest = await startProgram(["up"], restored.env);
      await publish(older, "older, beside");
      await publish(newest, "newest, beside");
      for (const note of ["older, beside", "newest, beside"]) await delivered(restored, "/works", note);
      await shareWork(restored, older, newest);

      assert.deepEqual(await older.end("SIGTERM"), { code: 0, signal: null });
      await publish(newest, "newest, after");
      await delivered(restored, "/works", "newest, after");
      assert.deepEqual(await newest.end("SIGTERM"), { code: 0, signal: null });

      const back = await startProgram(["up"], restored.env, former.main);
      assert.match(back.output(), /The database is newer than this release/);
      await publish(back, "older, after");
      await delivered(restored, "/works", "older, after");
      assert.deepEqual(await back.end("SIGTERM"), { code: 0, signal: null });
    });
  });
}
