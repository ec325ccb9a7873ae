/** The start of the program with an object store, on moto, which knows every setting of a bucket. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  CreateBucketCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { checkObjectStores } from "../src/cli/doctor/doctor-checks.ts";
import { makeSecrets, readConfig } from "../src/config.ts";
import { prepareMoto, startMoto } from "./support/moto.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";
import { freePort } from "./support/free-port.ts";
import type { ObjectStoreProcess } from "./support/versitygw.ts";

const missing = prepareMoto();
const urlOf = (endpoint: string, bucket: string) => `s3://${bucket}?region=us-east-1&endpoint=${endpoint}`;

describe("a start with an object store", { skip: missing ?? false }, () => {
  let store: ObjectStoreProcess;
  let client: S3Client;
  let database: TestDatabase;
  let receiver: TlsReceiver;
  before(async () => {
    store = await startMoto();
    client = new S3Client({ region: "us-east-1", endpoint: store.endpoint, forcePathStyle: true });
    database = await createTestDatabase();
    receiver = await startReceiver();
  });
  after(async () => {
    client.destroy();
    await store.stop();
    await receiver.close();
    await database.drop();
  });

  it("is refused where objects would have no versions, with what to do, and leaves no mark there", async () => {
    await client.send(new CreateBucketCommand({ Bucket: "unversioned" }));
    await assert.rejects(start(store.endpoint, "unversioned"), {
      name: "ConfigError",
      message: /unversioned is not safe to use\.\nBR-04 is not set: enable versioning/,
    });
    assert.equal(await objectsIn("unversioned"), 0);
    const found = await checkObjectStores(
      readConfig({ ...makeSecrets(), OBJECT_STORE_URL: urlOf(store.endpoint, "unversioned") }),
    );
    const told = new Map(found.map(({ detail, status }) => [/rule (\S+)/.exec(detail)?.[1], status]));
    assert.deepEqual(
      [told.get(undefined), told.get("BR-04"), told.get("BR-01")],
      ["ok", "fail", "warn"],
      "as the doctor tells it",
    );
  });

  it("succeeds where less is wrong, and serves no files of a folder", async () => {
    await client.send(new CreateBucketCommand({ Bucket: "good-enough" }));
    const VersioningConfiguration = { Status: "Enabled" } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: "good-enough", VersioningConfiguration }));
    const service = await start(store.endpoint, "good-enough");
    const { status } = await service.call("GET", "/api/storage/files/artifacts/x", { as: null });
    await service.stop();
    assert.equal(status, 403);
    assert.equal(await objectsIn("good-enough"), 1);
  });

  it("succeeds while the store is away: events do not wait for it", async () => {
    const service = await start(`http://127.0.0.1:${await freePort()}`, "away");
    const { status } = await service.call("GET", "/ready", { as: null });
    await service.stop();
    assert.equal(status, 200);
  });

  async function objectsIn(Bucket: string): Promise<number | undefined> {
    return (await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount;
  }

  function start(endpoint: string, bucket: string): Promise<TestService> {
    const OBJECT_STORE_URL = urlOf(endpoint, bucket);
    return startTestService({ database, receiver, roles: ["api"], env: { OBJECT_STORE_URL } });
  }
});
