/** The adapter on a real object store, which a machine without Go does not have. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from "@aws-sdk/client-s3";
import { describeBucketContract, newKey, sha256 } from "../../../test/support/bucket-contract.ts";
import { freePort } from "../../../test/support/free-port.ts";
import {
  prepareVersitygw,
  startVersitygw,
  type ObjectStoreProcess,
} from "../../../test/support/versitygw.ts";
import { confirmingHead, StoreUnavailableError, type Bucket } from "./bucket.ts";
import { makeS3Bucket } from "./s3-bucket.ts";

const missing = prepareVersitygw();
const REGION = "us-east-1";

describe("a bucket of an object store", { skip: missing ?? false }, () => {
  describeBucketContract("versitygw", async () => {
    const store = await startVersitygw();
    await createBucket(store.endpoint, "contract", true);
    const bucket = await bucketAt(store.endpoint, "contract");
    return {
      bucket,
      async close() {
        bucket.close();
        await store.stop();
      },
    };
  });

  describe("that is not as it should be", () => {
    let store: ObjectStoreProcess;
    const opened: Bucket[] = [];
    before(async () => {
      store = await startVersitygw();
    });
    after(async () => {
      for (const bucket of opened) bucket.close();
      await store.stop();
    });

    it("is told apart from an object that is not there: no bucket", async () => {
      const bucket = await open(store.endpoint, "absent");
      const request = { bucket: "absent", key: newKey(), version_id: null };
      await assert.rejects(bucket.head(request), StoreUnavailableError);
      assert.deepEqual(await confirmingHead(bucket).head(request), { error: "unavailable" });
      await assert.rejects(bucket.list({ after: null, limit: 1 }), StoreUnavailableError);
      const version = { key: newKey(), versionId: "1" };
      await assert.rejects(bucket.get(version), StoreUnavailableError);
      await assert.rejects(bucket.deleteVersion(version), StoreUnavailableError);
      await assert.rejects(bucket.readConfig(), StoreUnavailableError);
    });

    it("is told apart from an object that is not there: no store", async () => {
      const bucket = await open(`http://127.0.0.1:${await freePort()}`, "nowhere");
      const request = { bucket: "nowhere", key: newKey(), version_id: null };
      await assert.rejects(bucket.head(request), StoreUnavailableError);
    });

    it("takes no object where it keeps no versions", async () => {
      await createBucket(store.endpoint, "unversioned", false);
      const bucket = await open(store.endpoint, "unversioned");
      await assert.rejects(bucket.put(empty()), /keeps no versions/);
    });

    for (const Status of [undefined, "Suspended"] as const) {
      it(`takes what it got without a version once it keeps versions; before: ${Status}`, async () => {
        const name = `late-${Status?.toLowerCase() ?? "never"}`;
        await createBucket(store.endpoint, name, false);
        if (Status !== undefined) await setVersioning(store.endpoint, name, Status);
        const bucket = await open(store.endpoint, name);
        const [upload, other] = [empty(), empty()];
        for (const _ of [1, 2]) await assert.rejects(bucket.put(upload), /keeps no versions/);
        await assert.rejects(bucket.put(other), /keeps no versions/);
        await setVersioning(store.endpoint, name, "Enabled");
        const stored = await bucket.put(upload);
        assert.equal(stored.code, "stored");
        assert.deepEqual(await bucket.put(upload), { code: "exists" });
        const bytes = Buffer.from("other bytes");
        const others = { size: bytes.length, sha256: sha256(bytes), open: () => Readable.from([bytes]) };
        assert.deepEqual(await bucket.put({ key: other.key, ...others }), { code: "exists" });
      });
    }

    it("says of what it does not know that it is unsupported, and of what is not set that it is absent", async () => {
      await createBucket(store.endpoint, "plain", true);
      const config = await (await open(store.endpoint, "plain")).readConfig();
      assert.deepEqual(config, {
        public_access_block: "unsupported",
        policy_status: null,
        ownership: "BucketOwnerEnforced",
        versioning: "Enabled",
        encryption: "unsupported",
        tls_only: null,
        abort_multipart_days: "unsupported",
        noncurrent_days: "unsupported",
        current_expiration_days: "unsupported",
        cors_origins: null,
      });
    });

    async function open(endpoint: string, name: string): Promise<Bucket> {
      const bucket = await bucketAt(endpoint, name);
      opened.push(bucket);
      return bucket;
    }
  });
});

const empty = () => ({ key: newKey(), size: 0, sha256: sha256(Buffer.of()), open: () => Readable.from([]) });

function bucketAt(endpoint: string, name: string): Promise<Bucket> {
  return makeS3Bucket({ bucket: name, region: REGION, endpoint });
}

async function createBucket(endpoint: string, name: string, isVersioned: boolean): Promise<void> {
  const client = new S3Client({ region: REGION, endpoint, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: name }));
  client.destroy();
  if (isVersioned) await setVersioning(endpoint, name, "Enabled");
}

async function setVersioning(endpoint: string, name: string, Status: "Enabled" | "Suspended"): Promise<void> {
  const client = new S3Client({ region: REGION, endpoint, forcePathStyle: true });
  await client.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration: { Status } }));
  client.destroy();
}
