import { join } from "node:path";
import type { ObjectStore } from "../storage/bytes/object-store-url.ts";

type Place = { dataDir: string; objectStore: ObjectStore };

/**
 * The folder of a shard behind the first, which keeps the one that it had alone.
 * A bucket belongs to one database: comparing treats objects without a row
 * of its own as lost.
 */
export function withOwnFolder<Settings extends Place>(settings: Settings, shard: string): Settings {
  return {
    ...settings,
    dataDir: join(settings.dataDir, "shards", shard),
    objectStore: { kind: "directory", shard },
  };
}
