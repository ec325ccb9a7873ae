/** A running Postern for a test file: the whole program on a real database, with a real TLS receiver beside it. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { HttpLimits } from "../../src/api/http-limits.ts";
import { makeSecrets, readConfig, type Environment } from "../../src/config.ts";
import { openCatalog } from "../../src/events/live-catalog.ts";
import { readMigrations } from "../../src/database/schema/migration-files.ts";
import type { Role } from "../../src/service/service-options.ts";
import { startService } from "../../src/service/service.ts";
import type { SenderLimits } from "../../src/outbound/send.ts";
import type { StorageUpkeepTimes } from "../../src/storage/upkeep/storage-upkeep.ts";
import type { UpkeepTimes } from "../../src/service/upkeep.ts";
import { makeLog } from "../../src/telemetry/log.ts";
import { issueTestToken, OWNER, request, type ApiAnswer, type CallOptions, type Claims } from "./calls.ts";
import { requireDocumented } from "./documented-refusals.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { temporaryPath } from "./temporary.ts";
import { startReceiver, type Respond, type TlsReceiver } from "./tls-receiver.ts";

const MIGRATIONS = join(import.meta.dirname, "..", "..", "migrations");

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
  /** A call fails where it is refused as the API's document does not say. */
  refusesAsDocumented?: boolean;
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
      const answer = await request(`${url}${path}`, method, {
        ...callOptions,
        token: as === null ? null : await token(as),
      });
      if (options.refusesAsDocumented === true) requireDocumented(method, path, answer);
      return answer;
    },
    async stop() {
      await service.stop();
      if (options.receiver === undefined) await receiver.close();
      if (options.database === undefined) await database.drop();
      await rm(ownFolder, { recursive: true, force: true });
    },
  };
}
