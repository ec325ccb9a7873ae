/** Settings that are right alone and wrong together: a line for each fault. */
import { ownBucket } from "./shards/own-bucket.ts";
import type { Shard } from "./shards/shard-list.ts";
import type { ObjectStore } from "./storage/bytes/object-store-url.ts";
import { bucketName } from "./storage/rules/values.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What does not go with several databases. */
export function shardFaults(env: Environment): string[] {
  if (!isSet(env, "DATABASE_URL")) return [];
  return [
    "SHARDS and DATABASE_URL are both set: SHARDS names every database: make it the first shard, and remove DATABASE_URL",
  ];
}

/** A line for each shard whose bucket can have no such name. */
export function bucketFaults({
  SHARDS: shards = [],
  OBJECT_STORE_URL: store,
}: {
  SHARDS?: readonly Shard[] | undefined;
  OBJECT_STORE_URL?: ObjectStore | undefined;
}): string[] {
  if (store?.kind !== "s3") return [];
  return shards
    .slice(1)
    .map(({ name }) => ownBucket(store.bucket, name))
    .filter((name) => !bucketName.safeParse(name).success)
    .map((name) => `OBJECT_STORE_URL needs a shorter bucket: a shard's is ${name}, of at most 63 characters`);
}

export function sessionFaults(env: Environment): string[] {
  const hasSecret = isSet(env, "SESSION_JWT_SECRET");
  const hasKeySet = isSet(env, "SESSION_JWKS_URL");
  if (hasSecret && hasKeySet) return ["SESSION_JWT_SECRET and SESSION_JWKS_URL are both set: choose one"];
  if (!hasSecret && !hasKeySet) {
    return ["SESSION_JWT_SECRET or SESSION_JWKS_URL is required. Make a secret with: openssl rand -hex 32"];
  }
  const isComplete = isSet(env, "SESSION_ISSUER") && isSet(env, "SESSION_AUDIENCE");
  return hasKeySet && !isComplete
    ? ["SESSION_JWKS_URL needs SESSION_ISSUER and SESSION_AUDIENCE beside it"]
    : [];
}

export function isSet(env: Environment, name: string): boolean {
  return env[name] !== undefined && env[name] !== "";
}
