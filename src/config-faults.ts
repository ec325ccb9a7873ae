/** Settings that are right alone and wrong together: a line for each fault. */

type Environment = Readonly<Record<string, string | undefined>>;

/** What does not go with several databases. */
export function shardFaults(env: Environment): string[] {
  const reasons = {
    DATABASE_URL: "SHARDS names every database: make it the first shard, and remove DATABASE_URL",
    OBJECT_STORE_URL: "a bucket belongs to one database: remove it, and each shard has a folder in DATA_DIR",
  } as const;
  return (["DATABASE_URL", "OBJECT_STORE_URL"] as const)
    .filter((name) => isSet(env, name))
    .map((name) => `SHARDS and ${name} are both set: ${reasons[name]}`);
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
