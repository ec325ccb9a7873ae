import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import {
  answering,
  away,
  eachStored,
  slip,
  sortedIds,
  type KeptArtifact,
  type Stored,
} from "../../../test/support/stored.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { Bucket } from "../bytes/bucket.ts";
import type { LinkProbes } from "../library/link-probes.ts";
import { finishUploads } from "./finish-uploads.ts";
import { judgePage } from "./reconcile-page.ts";

let stored: Stored;
eachStored((opened) => (stored = opened));

async function finish({
  sample = async () => answering(),
  ...bucket
}: Partial<Bucket> & { sample?: LinkProbes["sample"] } = {}) {
  const { services } = stored;
  const page = { runId: randomUUID(), after: null, batchSize: 20, maxDestructive: 20 };
  const judged = await judgePage(services, { ...page, examinedOrphans: new Set(), approved: new Set() });
  return finishUploads(
    { ...services, bucket: { ...stored.bucket, ...bucket }, probes: { ...services.probes, sample } },
    judged,
  );
}

/** Uploads that their processes left, in the order of their keys. */
async function leave(count: number, wanted: Parameters<Stored["store"]>[0] = {}): Promise<KeptArtifact[]> {
  const left: KeptArtifact[] = [];
  for (const deliveryId of sortedIds(count))
    left.push(await stored.store({ state: "pending", deliveryId, ...wanted }));
  return left;
}

const states = (artifacts: readonly KeptArtifact[]) => Promise.all(artifacts.map(stored.stateOf));

const DONE = { finished: 0, refusal: null };
const REFUSED = /^the artifact may not be downloaded yet, PROBE_FAILED: unsigned_get was answered 200/;

describe("uploads that a process left", () => {
  it("become available, recorded or not, for as long as their own tenant chose", async () => {
    const [recorded] = await leave(1);
    const [unrecorded] = await leave(1, { isRecorded: false, tenantId: tenant("globex") });
    assert.ok(recorded !== undefined && unrecorded !== undefined);
    await stored.db.query(
      "INSERT INTO postern.tenant_settings (tenant_id, artifact_days) VALUES ('globex', 3)",
    );
    assert.deepEqual(await finish(), { finished: 2, refusal: null });
    for (const [artifact, days] of [
      [recorded, 30],
      [unrecorded, 3],
    ] as const) {
      const { state, version_id, deadline, available_at } = await stored.rowOf(artifact);
      assert.deepEqual([state, version_id], ["available", artifact.versionId]);
      assert.equal(deadline.getTime() - available_at.getTime(), days * 86_400_000);
    }
    assert.deepEqual(await finish(), DONE);
  });

  it("are not those that a process may still be at, an export's, nor any whose own bytes are not there", async () => {
    const [young] = await leave(1, { ageMs: 0 });
    const [archive] = await leave(1, { kind: "export" });
    const [gone] = await leave(1);
    const missing = await stored.store({ state: "missing" });
    const [other] = await leave(1, { isRecorded: false });
    assert.ok(other !== undefined);
    await stored.overwrite(other, "other bytes");
    assert.ok(young !== undefined && archive !== undefined && gone !== undefined);
    await stored.lose(gone);
    let asked = 0;
    const sample = async () => {
      asked++;
      return answering();
    };
    assert.deepEqual(await finish({ sample }), DONE);
    assert.equal(asked, 0);
    assert.deepEqual(await states([young, archive, gone, other, missing]), [
      "pending",
      "pending",
      "pending",
      "pending",
      "missing",
    ]);
  });

  it("do not wait for one whose links are answered as they must not be", async () => {
    const left = await leave(3);
    const sample: LinkProbes["sample"] = async ({ id }) =>
      answering(id === left[1]?.id ? { unsigned_get: 200 } : {});
    const { finished, refusal } = await finish({ sample });
    assert.equal(finished, 2);
    assert.match(refusal ?? "", REFUSED);
    assert.deepEqual(await states(left), ["available", "pending", "available"]);
  });

  it("are recorded though no link can be tried, which is tried once", async () => {
    const left = await leave(2, { isRecorded: false });
    let tried = 0;
    const sample = () => {
      tried++;
      return away();
    };
    assert.deepEqual(await finish({ sample }), { finished: 0, refusal: "the store is away" });
    assert.equal(tried, 1);
    for (const artifact of left) assert.equal((await stored.rowOf(artifact)).version_id, artifact.versionId);
  });

  it("become available up to the first that the store cannot be asked about", async () => {
    const left = await leave(3, { isRecorded: false });
    const head: Bucket["head"] = (request) =>
      request.key === left[1]?.key ? away() : stored.bucket.head(request);
    assert.deepEqual(await finish({ head }), { finished: 1, refusal: "the store is away" });
    assert.deepEqual(await states(left), ["available", "pending", "pending"]);
  });

  it("are not counted where their row changes or goes meanwhile", async () => {
    const [changing, erased] = await leave(2);
    assert.ok(changing !== undefined && erased !== undefined);
    const sample: LinkProbes["sample"] = async ({ id }) => {
      await stored.db.query(
        id === changing.id
          ? "UPDATE postern.stored_objects SET revision = revision + 1 WHERE id = $1"
          : "DELETE FROM postern.stored_objects WHERE id = $1",
        [id],
      );
      return answering();
    };
    assert.deepEqual(await finish({ sample }), DONE);
    assert.equal(await stored.stateOf(changing), "pending");
  });

  it("are not passed over where something else is wrong than the store", async () => {
    await leave(1, { isRecorded: false });
    await assert.rejects(finish({ head: slip }), TypeError);
    await assert.rejects(finish({ sample: slip }), TypeError);
  });
});
