/** A running Postern for a test file: the whole program on a real database, with a real TLS receiver beside it. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { HttpLimits } from "../../src/api/http-limits.ts";
import { issueToken, type TokenClaims } from "../../src/api/session-token.ts";
import { makeSecrets, readConfig, type Environment } from "../../src/config.ts";
import { openCatalog } from "../../src/events/live-catalog.ts";
import { readMigrations } from "../../src/database/migration-files.ts";
import type { Role } from "../../src/service/service-options.ts";
import { startService } from "../../src/service/service.ts";
import type { SenderLimits } from "../../src/outbound/send.ts";
import type { StorageUpkeepTimes } from "../../src/storage/upkeep/storage-upkeep.ts";
import type { UpkeepTimes } from "../../src/service/upkeep.ts";
import { withinLimit } from "../../src/shared/time-limit.ts";
import { makeLog } from "../../src/telemetry/log.ts";
import { MUTATION } from "./mutation.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { temporaryPath } from "./temporary.ts";
import { startReceiver, type Respond, type TlsReceiver } from "./tls-receiver.ts";

const MIGRATIONS = join(import.meta.dirname, "..", "..", "migrations");
const TOKEN_LIFE_MS = 3_600_000;

export type Claims = Omit<TokenClaims, "type" | "tid" | "sub"> & {
  type?: string;
  tid?: string;
  sub?: string;
};

export const OWNER: Claims = { type: "user", tid: "acme", sub: "ada", role: "owner" };
export const OTHER_OWNER: Claims = { type: "user", tid: "globex", sub: "gil", role: "owner" };
export const MEMBER: Claims = { type: "user", tid: "acme", sub: "max", role: "member" };
export const PRODUCER: Claims = { type: "service", tid: "acme", sub: "app", permissions: ["events:write"] };

export type ApiAnswer = { status: number; headers: Headers; text: string; body: unknown };

export type CallOptions = {
  /** The session's claims; default the owner of `acme`, null sends no token. */
  as?: Claims | null;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
};

export type TestService = {
  /** Where the program answers, with its base path. */
  url: string;
  /** The environment it was started with. */
  env: Environment;
  database: TestDatabase;
  receiver: TlsReceiver;
  token(claims: Claims): Promise<string>;
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>;
  stop(): Promise<void>;
};

export type TestServiceOptions = {
  respond?: Respond;
  env?: Environment;
  roles?: readonly Role[];
  /** Shared with another service; then the caller drops it. */
  database?: TestDatabase;
  receiver?: TlsReceiver;
  httpLimits?: Partial<HttpLimits>;
  senderLimits?: Partial<SenderLimits>;
  storageTimes?: Partial<StorageUpkeepTimes>;
  upkeepTimes?: Partial<UpkeepTimes>;
};

/** Starts the program within this process, so that a test file can look at everything it does. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const database = options.database ?? (await createTestDatabase());
  const receiver =
    options.receiver ??
    (await startReceiver(options.respond === undefined ? {} : { respond: options.respond }));
  // A folder of its own: its mark names the database that it belongs to.
  const ownFolder = temporaryPath("service");
  const env: Environment = {
    ...makeSecrets(),
    PORT: "0",
    LOG_LEVEL: "silent",
    OUTBOUND_ALLOWED_CIDRS: "127.0.0.0/8",
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: "10",
    DATA_DIR: ownFolder,
    ...options.env,
  };
  const config = readConfig(env);
  const service = await startService({
    config,
    catalog: await openCatalog(config.eventCatalogFile),
    databaseUrl: database.url,
    migrations: await readMigrations(MIGRATIONS),
    roles: new Set(options.roles ?? ["api", "worker"]),
    log: makeLog(config.logLevel),
    extraCaPems: [receiver.caPem],
    ...(options.httpLimits === undefined ? {} : { httpLimits: options.httpLimits }),
    ...(options.senderLimits === undefined ? {} : { senderLimits: options.senderLimits }),
    ...(options.storageTimes === undefined ? {} : { storageTimes: options.storageTimes }),
    ...(options.upkeepTimes === undefined ? {} : { upkeepTimes: options.upkeepTimes }),
  });
  const url = `${service.address}${config.basePath}`;
  const token = (claims: Claims): Promise<string> => issueTestToken(env, claims);
  return {
    url,
    env,
    database,
    receiver,
    token,
    async call(method, path, callOptions = {}) {
      const { as = OWNER } = callOptions;
      return request(`${url}${path}`, method, {
        ...callOptions,
        token: as === null ? null : await token(as),
      });
    },
    async stop() {
      await service.stop();
      if (options.receiver === undefined) await receiver.close();
      if (options.database === undefined) await database.drop();
      await rm(ownFolder, { recursive: true, force: true });
    },
  };
}

/** One request of the API; the answer's body is parsed where it is JSON. */
export async function request(
  url: string,
  method: string,
  { token, json, raw, headers = {} }: Omit<CallOptions, "as"> & { token: string | null },
): Promise<ApiAnswer> {
  const body = json === undefined ? raw : JSON.stringify(json);
  const response = await fetch(url, {
    method,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? null : parsed(text),
  };
}

/** A token as the operator's backend would issue it for a service started with this environment. */
export function issueTestToken(env: Environment, claims: Claims): Promise<string> {
  return issueToken(
    {
      secret: env["SESSION_JWT_SECRET"] ?? "",
      issuer: env["SESSION_ISSUER"],
      audience: env["SESSION_AUDIENCE"],
    },
    { type: "", tid: "", sub: "", ...claims },
    TOKEN_LIFE_MS,
  );
}

/** What a look answers while it has not found what it waits for. */
type NotYet = null | undefined | false;

/** A count or a list is never "not yet", not even 0 or an empty one: to wait for it is not to wait. */
type Faulty<Found> = [Extract<Found, NotYet>] extends [never]
  ? "it always finds something: answer null, undefined or false until it has"
  : [Extract<Found, number>] extends [never]
    ? never
    : "it finds 0 too: compare the number";

/**
 * Shorter than a test's own limit, which cannot say what was waited for. Mutation
 * testing sets it near the need, because a mutant that stops deliveries is waited for in vain.
 */
const WAIT_LIMIT_MS = Number(process.env[MUTATION.waitLimit] ?? 60_000);
const PAUSE_MS = 20;

/** Waits until the look finds something. In vain, it rejects with the text of the look and where it was called. */
export async function eventually<Found>(
  look: () => Promise<Found>,
  ...faulty: [Faulty<Found>] extends [never] ? [] : [Faulty<Found>]
): Promise<Exclude<Found, NotYet>> {
  assert.equal(faulty.length, 0);
  const inVain = new Error(`waited ${WAIT_LIMIT_MS / 1000} s in vain for: ${look.toString()}`);
  const endsAt = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    // A look may hang as well.
    const found = await withinLimit(look(), endsAt - performance.now(), () => inVain);
    if (isFound(found)) return found;
    if (performance.now() + PAUSE_MS > endsAt) throw inVain;
    await setTimeout(PAUSE_MS);
  }
}

function isFound<Found>(found: Found): found is Exclude<Found, NotYet> {
  return found !== null && found !== undefined && found !== false;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
