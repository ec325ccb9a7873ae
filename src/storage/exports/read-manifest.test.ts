/** What an archive says of itself, believed only where all of it is true. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { buildArchive, setField, type GivenEntry } from "../../../test/support/built-archive.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { openFilesBelow } from "../../../test/support/open-files.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newEndpointId, newExportId } from "../../shared/id.ts";
import { readManifest } from "./read-manifest.ts";

const EXPORT = newExportId();
const ENDPOINT = newEndpointId();
const NO_MANIFEST = { fault: "it has no manifest that can be read" };
const FOREIGN = { fault: "its manifest is not one that Postern writes" };
const NAMELESS = { fault: "its manifest names no export or tenant" };

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-manifest-"));
});
after(() => rm(folder, { recursive: true, force: true }));

async function manifestOf(entries: readonly GivenEntry[]) {
  const place = join(folder, randomUUID());
  await writeFile(place, buildArchive(entries).bytes);
  return readManifest(place);
}

const OLD = {
  export_id: EXPORT,
  tenant_id: "acme",
  from: "2026-03-01T00:00:00.000Z",
  to: "2026-03-02T00:00:00.000Z",
  endpoint_id: null,
  deliveries: 2,
};
const FULL = {
  ...OLD,
  endpoint_id: ENDPOINT,
  event_type: "invoice.*",
  delivery_status: "failed",
  formats: ["parquet"],
};

/** The archive of a manifest, and of two files that it names unless `files` says otherwise. */
function archiveOf(manifest: object, { files }: { files?: unknown } = {}): GivenEntry[] {
  const contents = [{ path: "a.csv" }, { path: "b.csv", method: 0 as const }];
  const named = buildArchive(contents).files.map(({ path, size, sha256 }) => ({
    path,
    size,
    sha256,
    rows: 1,
  }));
  const content = Buffer.from(JSON.stringify({ ...manifest, files: files ?? named }));
  return [...contents, { path: "manifest.json", content }];
}

describe("the manifest of an archive", () => {
  it("says of what the archive is", async () => {
    assert.deepEqual(await manifestOf(archiveOf(FULL)), {
      exportId: EXPORT,
      tenantId: tenant("acme"),
      from: new Date("2026-03-01T00:00:00.000Z"),
      to: new Date("2026-03-02T00:00:00.000Z"),
      endpointId: ENDPOINT,
      eventType: "invoice.*",
      deliveryStatus: "failed",
      formats: ["parquet"],
      deliveries: 2,
    });
  });

  it("may be of before rows and formats could be chosen", async () => {
    assert.deepEqual(await manifestOf(archiveOf(OLD)), {
      exportId: EXPORT,
      tenantId: tenant("acme"),
      from: new Date("2026-03-01T00:00:00.000Z"),
      to: new Date("2026-03-02T00:00:00.000Z"),
      endpointId: null,
      eventType: null,
      deliveryStatus: null,
      formats: ["ndjson", "csv"],
      deliveries: 2,
    });
  });

  it("must be there, be readable, and be one that Postern writes", async () => {
    assert.deepEqual(await manifestOf([{ path: "a.csv" }]), NO_MANIFEST);
    assert.deepEqual(await manifestOf([]), NO_MANIFEST);
    const place = join(folder, randomUUID());
    assert.deepEqual(await readManifest(place), NO_MANIFEST);
    await writeFile(place, "no archive");
    assert.deepEqual(await readManifest(place), NO_MANIFEST);
    assert.deepEqual(await manifestOf([{ path: "manifest.json", content: Buffer.from("no JSON") }]), FOREIGN);
    for (const change of [
      { export_id: 1 },
      { tenant_id: null },
      { from: "yesterday" },
      { to: 12 },
      { endpoint_id: undefined },
      { event_type: 1 },
      { delivery_status: "pending" },
      { formats: [] },
      { formats: ["xlsx"] },
      { deliveries: -1 },
      { deliveries: 1.5 },
    ]) {
      assert.deepEqual(await manifestOf(archiveOf({ ...FULL, ...change })), FOREIGN, JSON.stringify(change));
    }
    assert.deepEqual(await manifestOf(archiveOf(FULL, { files: [{ path: "a.csv", size: 9 }] })), FOREIGN);
    assert.deepEqual(await manifestOf(archiveOf(FULL, { files: "none" })), FOREIGN);
    assert.deepEqual(await manifestOf(archiveOf(FULL, { files: [{ path: 1 }] })), FOREIGN);
  });

  it("must name an export and a tenant", async () => {
    assert.deepEqual(await manifestOf(archiveOf({ ...FULL, export_id: "x" })), NAMELESS);
    assert.deepEqual(await manifestOf(archiveOf({ ...FULL, tenant_id: "" })), NAMELESS);
  });

  it("is not believed when the archive holds something else", async () => {
    const untrue = { fault: "its files are not what its manifest says: MANIFEST" };
    assert.deepEqual(await manifestOf([...archiveOf(FULL), { path: "more.csv" }]), untrue);
    assert.deepEqual(await manifestOf(archiveOf(FULL, { files: [] })), untrue);
    assert.deepEqual(await manifestOf(archiveOf(FULL).slice(1)), untrue);
  });

  it("is not read where it claims to be larger than any that was written", async () => {
    const size = 16 * 1024 * 1024;
    const [, , whole = {}] = archiveOf(FULL);
    assert.deepEqual(await manifestOf([{ ...whole, ...setField(32, 22, 24, size + 1) }]), NO_MANIFEST);
    const content = Buffer.concat([whole.content ?? Buffer.alloc(0), Buffer.alloc(size, " ")]).subarray(
      0,
      size,
    );
    const largest = await manifestOf([{ ...whole, content }]);
    // It was read; as it names files that are not there, it is not believed.
    assert.match(Object(largest).fault, /^its files are not/);
  });

  it("is looked for in a damaged archive, which is closed again", async () => {
    const { bytes } = buildArchive(archiveOf(FULL));
    bytes.fill(0, bytes.indexOf("PK\u0001\u0002") + 1, bytes.indexOf("PK\u0001\u0002") + 2);
    const place = join(folder, randomUUID());
    await writeFile(place, bytes);
    assert.deepEqual(await readManifest(place), NO_MANIFEST);
    await eventually(async () => (await openFilesBelow(place)).length === 0);
  });
});
