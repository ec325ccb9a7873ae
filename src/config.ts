/**
 * The only reader of the environment: it parses and checks every setting, tells all
 * mistakes at once, and gives the rest of the program one frozen {@link Config}.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { maskUrl } from "./audit/mask-url.ts";
import { maskPassword, type DatabasePlace } from "./database/database-name.ts";
import {
  basePath,
  cidr,
  databaseUrl,
  durationMs,
  encryptionKey,
  frameAncestor,
  headerToken,
  intakePlace,
  integer,
  KEY_HELP,
  keySetUrl,
  list,
  listenHost,
  nameServer,
  objectStore,
  oneOf,
  operatorTenant,
  publicUrl,
  shardList,
} from "./config-values.ts";
import { bucketFaults, isSet, sessionFaults, shardFaults } from "./config-faults.ts";
import { maskLogin, type IntakePlace } from "./intake/intake-url.ts";
import { maskShards, type Shard } from "./shards/shard-list.ts";
import { ConfigError } from "./shared/config-error.ts";
import { TRACING_SETTINGS, tracingFields, tracingOptions } from "./telemetry/tracing-settings.ts";
import type { TenantId } from "./shared/id.ts";
import type { ObjectStore } from "./storage/bytes/object-store-url.ts";

const DEFAULT_RETRY_SCHEDULE = "0s,5s,5m,30m,2h,5h,10h,14h,20h,24h";
const DEFAULT_BLOCKED_PORTS = "0,22,23,25,110,143,445,465,587,993,995,2375,3306,5432,6379,11211,27017";

type Setting = { about: string; fallback?: string; secret?: true; mask?: (value: string) => string };

/** Every setting, in the order in which `postern config` lists them. */
const SETTINGS = {
  PORT: { about: "port to listen on, 0 for any free one", fallback: "8080" },
  HOST: { about: "address to listen on", fallback: "127.0.0.1" },
  BASE_PATH: { about: "path under which everything is mounted, for example /postern", fallback: "" },
  PUBLIC_URL: {
    about: "the API's address for clients, BASE_PATH included, for links to files; unset: this machine alone",
  },
  DATABASE_URL: {
    about: "PostgreSQL 15 or newer, several hosts between commas; absent: an embedded server in DATA_DIR",
    mask: maskPassword,
  },
  SHARDS: {
    about: "several databases, name=postgres://…|name=…, instead of DATABASE_URL; absent: one",
    mask: (text) => maskShards(text, maskPassword),
  },
  INTAKE_URL: {
    about:
      "NATS servers whose stream takes events, nats://a,b,c, also while the database is away; absent: none",
    mask: maskLogin,
  },
  DURABILITY: {
    about: "local, or standby: not ready unless a synchronous standby has each commit",
    fallback: "local",
  },
  EMBEDDED_DATABASE: {
    about: "yes allows the embedded server under NODE_ENV=production",
    fallback: "no",
  },
  DATA_DIR: { about: "embedded database, artifacts, unfinished exports", fallback: "./.postern" },
  DATABASE_POOL_SIZE: { about: "database connections of this process", fallback: "20" },
  OBJECT_STORE_URL: {
    about: "bucket for stored artifacts, s3://name?region=…; absent: a folder in DATA_DIR",
    mask: maskPassword,
  },
  ARTIFACT_DAYS: {
    about: "days for which stored artifacts are kept; a tenant may shorten it",
    fallback: "30",
  },
  TRASH_DAYS: { about: "days for which objects without a row are kept in the trash", fallback: "30" },
  INTEGRATION_ENCRYPTION_KEY: {
    about: "32 bytes in base64 or hex; a comma-separated list is a key ring: the first encrypts, all decrypt",
    secret: true,
  },
  SESSION_JWT_SECRET: { about: "HS256 secret of session tokens, at least 32 bytes", secret: true },
  SESSION_JWKS_URL: {
    about: "JWK set that verifies session tokens (RS256, ES256, EdDSA)",
    mask: maskUrl,
  },
  SESSION_ISSUER: { about: "required iss of session tokens; absent, with SESSION_JWT_SECRET: any" },
  SESSION_AUDIENCE: { about: "required aud of session tokens; absent, with SESSION_JWT_SECRET: any" },
  EVENT_CATALOG: { about: "JSON or YAML file of event types; absent: the built-in catalog" },
  OUTBOUND_ALLOWED_CIDRS: { about: "private ranges that endpoints may be in, comma-separated", fallback: "" },
  OUTBOUND_DENIED_CIDRS: { about: "ranges that endpoints may never be in", fallback: "" },
  BLOCKED_PORTS: { about: "ports that endpoints may not have", fallback: DEFAULT_BLOCKED_PORTS },
  DNS_SERVERS: {
    about: "address:port of name servers, comma-separated; absent: the system's resolvers",
    fallback: "",
  },
  RETRY_SCHEDULE: { about: "delay of each attempt after the one before", fallback: DEFAULT_RETRY_SCHEDULE },
  DISABLE_AFTER: { about: "an endpoint with only failures for so long is disabled", fallback: "5d" },
  OPERATOR_TENANT: {
    about: "tenant whose endpoints are told of Postern's own events of every tenant; absent: none",
  },
  MAX_ENDPOINTS_PER_TENANT: { about: "endpoints that one tenant may have", fallback: "100" },
  RETENTION_DAYS: {
    about: "days for which deliveries, events and notes of storage are kept",
    fallback: "30",
  },
  RATE_LIMIT_WRITES: {
    about: "changes that a tenant may make a minute; 0: any number",
    fallback: "1200",
  },
  RATE_LIMIT_DISPATCHES: {
    about: "tests, retries and replays that a tenant may ask for a minute; 0: any number",
    fallback: "300",
  },
  RATE_LIMIT_FETCHES: { about: "calls of a tenant's clients a minute; 0: any number", fallback: "12000" },
  RATE_LIMIT_AUTH: {
    about: "failed authentications of an address a minute, before it gets 429 instead of 401; 0: any number",
    fallback: "600",
  },
  PORTAL_FRAME_ANCESTORS: {
    about: "origins of pages that may show the portal in a frame, comma-separated; absent: none",
    fallback: "",
  },
  TRUSTED_PROXIES: {
    about: "ranges of the proxies whose X-Forwarded-For tells a caller's address; absent: it is not read",
    fallback: "",
  },
  METRICS_TOKEN: { about: "bearer token that /metrics asks for; absent: open", secret: true },
  ...TRACING_SETTINGS,
  OTEL_EXPORTER_OTLP_ENDPOINT: { ...TRACING_SETTINGS.OTEL_EXPORTER_OTLP_ENDPOINT, mask: maskUrl },
  LOG_LEVEL: { about: "trace, debug, info, warn, error or silent", fallback: "info" },
} as const satisfies Record<string, Setting>;

export const SETTING_NAMES: readonly string[] = Object.keys(SETTINGS);

export type SharedSecret = {
  secret: string;
  /** Absent: any `iss`. */
  issuer?: string | undefined;
  /** Absent: any `aud`. */
  audience?: string | undefined;
};

export type SessionSource =
  | ({ kind: "secret" } & SharedSecret)
  | { kind: "jwks"; url: string; issuer: string; audience: string };

export type Config = Readonly<{
  port: number;
  host: string;
  /** Empty, or begins with a slash and does not end with one. */
  basePath: string;
  /** Without a slash at its end. */
  publicUrl: string | undefined;
  databaseUrl: string | undefined;
  /** Several databases; the first keeps the directory. */
  shards: readonly Shard[] | undefined;
  intake: IntakePlace | undefined;
  /** Where a commit must be before it is answered. */
  durability: "local" | "standby";
  dataDir: string;
  databasePoolSize: number;
  objectStore: ObjectStore;
  artifactDays: number;
  /** Objects without a row are deleted for good so long after they went to the trash. */
  trashDays: number;
  encryptionKeys: readonly Buffer[];
  session: SessionSource;
  eventCatalogFile: string | undefined;
  outbound: Readonly<{
    allowedCidrs: readonly string[];
    deniedCidrs: readonly string[];
    blockedPorts: ReadonlySet<number>;
    dnsServers: readonly string[];
  }>;
  /** Milliseconds to wait before each attempt, the first included. */
  retryScheduleMs: readonly number[];
  disableAfterMs: number;
  /** Null: nobody is told of other tenants. */
  operatorTenant: TenantId | null;
  maxEndpointsPerTenant: number;
  retentionDays: number;
  /** How many a minute; 0 is off. */
  rateLimits: Readonly<{ writes: number; dispatches: number; fetches: number; authentications: number }>;
  /** Origins, as a content security policy names them. */
  portalFrameAncestors: readonly string[];
  trustedProxies: readonly string[];
  metricsToken: string | undefined;
  tracing: ReturnType<typeof tracingOptions>;
  logLevel: (typeof LOG_LEVELS)[number];
}>;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

const schema = z.object({
  PORT: integer(0, 65_535),
  HOST: listenHost,
  BASE_PATH: basePath,
  PUBLIC_URL: publicUrl.optional(),
  DATABASE_URL: databaseUrl.optional(),
  SHARDS: shardList.optional(),
  INTAKE_URL: intakePlace.optional(),
  DURABILITY: oneOf(["local", "standby"]),
  EMBEDDED_DATABASE: oneOf(["yes", "no"]),
  DATA_DIR: z.string().min(1),
  DATABASE_POOL_SIZE: integer(3, 1000),
  OBJECT_STORE_URL: objectStore.default({ kind: "directory" }),
  ARTIFACT_DAYS: integer(1, 3650),
  TRASH_DAYS: integer(1, 3650),
  INTEGRATION_ENCRYPTION_KEY: z
    .string({ error: `is required. ${KEY_HELP}` })
    .transform((text) => text.split(",").map((key) => key.trim()))
    .pipe(z.array(encryptionKey)),
  SESSION_JWT_SECRET: z
    .string()
    .refine(
      (secret) => Buffer.byteLength(secret) >= 32,
      "must have at least 32 bytes. Make one with: openssl rand -hex 32",
    )
    .optional(),
  SESSION_JWKS_URL: keySetUrl.optional(),
  SESSION_ISSUER: z.string().optional(),
  SESSION_AUDIENCE: z.string().optional(),
  EVENT_CATALOG: z.string().optional(),
  OUTBOUND_ALLOWED_CIDRS: list.pipe(z.array(cidr)),
  OUTBOUND_DENIED_CIDRS: list.pipe(z.array(cidr)),
  BLOCKED_PORTS: list.pipe(z.array(integer(0, 65_535))).transform((ports) => new Set(ports)),
  DNS_SERVERS: list.pipe(z.array(nameServer)),
  RETRY_SCHEDULE: list.pipe(z.array(durationMs).min(1, "must name at least one attempt").max(100)),
  // 0 is no limit elsewhere, and here it would disable each endpoint at its first failure.
  DISABLE_AFTER: durationMs.pipe(z.number().min(1, "must be longer than 0")),
  OPERATOR_TENANT: operatorTenant.optional(),
  MAX_ENDPOINTS_PER_TENANT: integer(1, 100_000),
  RETENTION_DAYS: integer(1, 3650),
  RATE_LIMIT_WRITES: integer(0, 1_000_000),
  RATE_LIMIT_DISPATCHES: integer(0, 1_000_000),
  RATE_LIMIT_FETCHES: integer(0, 1_000_000),
  RATE_LIMIT_AUTH: integer(0, 1_000_000),
  PORTAL_FRAME_ANCESTORS: list.pipe(z.array(frameAncestor)),
  TRUSTED_PROXIES: list.pipe(z.array(cidr)),
  METRICS_TOKEN: headerToken.optional(),
  ...tracingFields,
  LOG_LEVEL: oneOf(LOG_LEVELS),
});

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The process's environment, for the commands that add to it before it is
 * read. An empty variable is what most shells and compose files mean by "not set".
 */
export function environment(): Environment {
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ""));
}

/** The settings of commands that need a database and no secret. Throws {@link ConfigError} as `readConfig` does. */
export function readDatabaseConfig(env: Environment): DatabasePlace {
  const parsed = schema
    .pick({ DATABASE_URL: true, SHARDS: true, EMBEDDED_DATABASE: true, DATA_DIR: true })
    .safeParse(withFallbacks(env));
  const faults = [...faultsOf(parsed), ...databaseFaults(env)];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults.join("\n"));
  const { DATABASE_URL: databaseUrl, SHARDS: shards, DATA_DIR: dataDir } = parsed.data;
  return { databaseUrl, shards, dataDir };
}

/** For a command that needs nothing but where the service listens. Throws {@link ConfigError}. */
export function readAddress(env: Environment): Pick<Config, "host" | "port" | "basePath"> {
  const parsed = schema.pick({ HOST: true, PORT: true, BASE_PATH: true }).safeParse(withFallbacks(env));
  if (!parsed.success) throw new ConfigError(faultsOf(parsed).join("\n"));
  const { HOST: host, PORT: port, BASE_PATH: basePath } = parsed.data;
  return { host, port, basePath };
}

/** In production nothing is made up: no demo, no secrets of our own. */
export function isProduction(env: Environment): boolean {
  return env["NODE_ENV"] === "production";
}

/** Reads and checks every setting; throws {@link ConfigError} with one line for each that is wrong. */
export function readConfig(env: Environment): Config {
  const parsed = schema.safeParse(withFallbacks(env));
  const faults = [...faultsOf(parsed), ...databaseFaults(env), ...sessionFaults(env)];
  if (parsed.success) faults.push(...bucketFaults(parsed.data));
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults.join("\n"));
  const values = parsed.data;
  return Object.freeze({
    port: values.PORT,
    host: values.HOST,
    basePath: values.BASE_PATH,
    publicUrl: values.PUBLIC_URL,
    databaseUrl: values.DATABASE_URL,
    shards: values.SHARDS,
    intake: values.INTAKE_URL,
    durability: values.DURABILITY,
    dataDir: values.DATA_DIR,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    objectStore: values.OBJECT_STORE_URL,
    artifactDays: values.ARTIFACT_DAYS,
    trashDays: values.TRASH_DAYS,
    encryptionKeys: values.INTEGRATION_ENCRYPTION_KEY,
    session: sessionSource(values),
    eventCatalogFile: values.EVENT_CATALOG,
    outbound: {
      allowedCidrs: values.OUTBOUND_ALLOWED_CIDRS,
      deniedCidrs: values.OUTBOUND_DENIED_CIDRS,
      blockedPorts: values.BLOCKED_PORTS,
      dnsServers: values.DNS_SERVERS,
    },
    retryScheduleMs: values.RETRY_SCHEDULE,
    disableAfterMs: values.DISABLE_AFTER,
    operatorTenant: values.OPERATOR_TENANT ?? null,
    maxEndpointsPerTenant: values.MAX_ENDPOINTS_PER_TENANT,
    retentionDays: values.RETENTION_DAYS,
    rateLimits: {
      writes: values.RATE_LIMIT_WRITES,
      dispatches: values.RATE_LIMIT_DISPATCHES,
      fetches: values.RATE_LIMIT_FETCHES,
      authentications: values.RATE_LIMIT_AUTH,
    },
    portalFrameAncestors: values.PORTAL_FRAME_ANCESTORS,
    trustedProxies: values.TRUSTED_PROXIES,
    metricsToken: values.METRICS_TOKEN,
    tracing: tracingOptions(values),
    logLevel: values.LOG_LEVEL,
  });
}

/** The two secrets without which nothing starts, made anew: for the demo and for tests. */
export function makeSecrets(): { INTEGRATION_ENCRYPTION_KEY: string; SESSION_JWT_SECRET: string } {
  return {
    INTEGRATION_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    SESSION_JWT_SECRET: randomBytes(32).toString("hex"),
  };
}

/** What `postern config` shows: each setting with its value (secrets masked) and what it is for. */
export function describeSettings(
  env: Environment,
): { name: string; value: string; isDefault: boolean; about: string }[] {
  return Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const given = env[name];
    const value = shown(setting, given ?? setting.fallback ?? "");
    return { name, value, isDefault: given === undefined, about: setting.about };
  });
}

function shown({ secret, mask }: Setting, value: string): string {
  if (value === "") return value;
  return secret === true ? "********" : (mask?.(value) ?? value);
}

/** Where embedded data live, for the commands that run before the settings are complete. */
export function dataDirOf(env: Environment): string {
  return env["DATA_DIR"] ?? SETTINGS.DATA_DIR.fallback;
}

function withFallbacks(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
      const given = env[name];
      return [name, given === undefined || given === "" ? setting.fallback : given];
    }),
  );
}

function faultsOf({ error }: z.ZodSafeParseResult<unknown>): string[] {
  const lines = (error?.issues ?? []).map((issue) => `${String(issue.path[0])} ${issue.message}`);
  return [...new Set(lines)];
}

/** In production, a forgotten DATABASE_URL must not mean a new and empty database. */
function databaseFaults(env: Environment): string[] {
  if (isSet(env, "SHARDS")) return shardFaults(env);
  if (!isProduction(env) || isSet(env, "DATABASE_URL") || env["EMBEDDED_DATABASE"] === "yes") return [];
  return [
    "DATABASE_URL is not set, and NODE_ENV is production: set it, or EMBEDDED_DATABASE=yes for a server in DATA_DIR",
  ];
}

/** Which of the two it is has been checked: see {@link sessionFaults}. */
function sessionSource(values: z.infer<typeof schema>): SessionSource {
  const {
    SESSION_JWT_SECRET: secret,
    SESSION_JWKS_URL: url,
    SESSION_ISSUER: issuer,
    SESSION_AUDIENCE: audience,
  } = values;
  if (secret !== undefined) return { kind: "secret", secret, issuer, audience };
  assert.ok(url !== undefined && issuer !== undefined && audience !== undefined);
  return { kind: "jwks", url, issuer, audience };
}
