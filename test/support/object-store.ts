/** The whole program on a real object store. Call `prepareVersitygw` first. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from "@aws-sdk/client-s3";
import { ageFiles, ageRows } from "./artifacts.ts";
import { startTestService, type TestService, type TestServiceOptions } from "./service.ts";
import { startVersitygw, type Versitygw } from "./versitygw.ts";

export type VersionedBucket = {
  store: Versitygw;
  /** Sees the store as its owner does. */
  client: S3Client;
  bucket: string;
  /** For OBJECT_STORE_URL. */
  url: string;
  /** Makes what is stored three hours older. */
  age(): Promise<void>;
  stop(): Promise<void>;
};

/** A store with one bucket that keeps versions. */
export async function startVersionedBucket(): Promise<VersionedBucket> {
  const store = await startVersitygw();
  const bucket = "artifacts-of-tests";
  const client = new S3Client({ region: "us-east-1", endpoint: store.endpoint, forcePathStyle: true });
  await addBucket(client, bucket);
  return {
    store,
    client,
    bucket,
    url: `s3://${bucket}?endpoint=${store.endpoint}&region=us-east-1&waive=BR-01,BR-05,BR-07,BR-08,BR-09`,
    age: () => ageFiles(join(store.objects, bucket)),
    async stop() {
      client.destroy();
      await store.stop();
    },
  };
}

/** Another bucket that keeps versions. */
export async function addBucket(client: S3Client, Bucket: string): Promise<void> {
  await client.send(new CreateBucketCommand({ Bucket }));
  const VersioningConfiguration = { Status: "Enabled" } as const;
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
}

export type OnObjectStore = Pick<VersionedBucket, "store" | "client" | "bucket"> & {
  service: TestService;
  /** Makes all that was seen and stored three hours older. */
  age(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts both, with a bucket that keeps versions. */
export async function startOnObjectStore(options: TestServiceOptions = {}): Promise<OnObjectStore> {
  const dataDir = await mkdtemp(join(tmpdir(), "postern-object-store-"));
  const versioned = await startVersionedBucket();
  const { store, client, bucket, url } = versioned;
  const env = { DATA_DIR: dataDir, OBJECT_STORE_URL: url, ...options.env };
  const service = await startTestService({ ...options, env });
  return {
    store,
    client,
    bucket,
    service,
    async age() {
      await ageRows(service.database.pool);
      await versioned.age();
    },
    async stop() {
      await service.stop();
      await versioned.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
