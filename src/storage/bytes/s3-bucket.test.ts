/** The adapter on a real object store, which a machine without Go does not have. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from "@aws-sdk/client-s3";
import { describeBucketContract, newKey } from "../../../test/support/bucket-contract.ts";
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
      const upload = { key: newKey(), size: 0, sha256: EMPTY_SHA256, open: () => Readable.from([]) };
      await assert.rejects(bucket.put(upload), /keeps no versions/);
    });

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

const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

function bucketAt(endpoint: string, name: string): Promise<Bucket> {
  return makeS3Bucket({ bucket: name, region: REGION, endpoint });
}

async function createBucket(endpoint: string, name: string, isVersioned: boolean): Promise<void> {
  const client = new S3Client({ region: REGION, endpoint, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: name }));
  if (isVersioned) {
    const VersioningConfiguration = { Status: "Enabled" } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration }));
  }
  client.destroy();
}
