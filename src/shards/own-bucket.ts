import { join } from "node:path";
import type { ObjectStore } from "../storage/bytes/object-store-url.ts";

type Place = { dataDir: string; objectStore: ObjectStore };

/**
 * The folder and the bucket of a shard behind the first, which keeps those that
 * it had alone. A bucket belongs to one database: comparing treats objects
 * without a row of its own as lost.
 */
export function withOwnBucket<Settings extends Place>(settings: Settings, shard: string): Settings {
  const { dataDir, objectStore } = settings;
  return {
    ...settings,
    dataDir: join(dataDir, "shards", shard),
    objectStore:
      objectStore.kind === "s3"
        ? { ...objectStore, bucket: ownBucket(objectStore.bucket, shard) }
        : { kind: "directory", shard },
  };
}

/** In an object store. */
export function ownBucket(bucket: string, shard: string): string {
  return `${bucket}-${shard}`;
}
