import type { HttpLimits } from "../api/http-limits.ts";
import type { Config } from "../config.ts";
import type { EmbeddedTrouble } from "../database/embedded/embedded-keeper.ts";
import type { Migration } from "../database/schema/migration-files.ts";
import type { CatalogFile } from "../events/live-catalog.ts";
import type { SenderLimits } from "../outbound/send.ts";
import type { StandingCode } from "../portal/portal-sessions.ts";
import type { StorageUpkeepTimes } from "../storage/upkeep/storage-upkeep.ts";
import type { Log } from "../telemetry/log.ts";
import type { UpkeepTimes } from "./upkeep.ts";

export type Role = "api" | "worker";

export type ServiceOptions = {
  config: Config;
  catalog: CatalogFile;
  /** The only database; with `config.shards` those are. */
  databaseUrl: string;
  /** Why the embedded database does not run, of a process that has one. */
  embeddedTrouble?: () => EmbeddedTrouble | null;
  /** Shards that were away at the start, each until it is back and found to be this installation's. */
  absentShards?: ReadonlyMap<string, Promise<void>>;
  migrations: Migration[];
  roles: ReadonlySet<Role>;
  log: Log;
  /** Roots to trust beside Node's own; only the demonstration has one. */
  extraCaPems?: readonly string[];
  /** Opens the portal as often as one likes, from this machine; only the demonstration has one. */
  standingCode?: StandingCode;
  /** Other than usual; only tests, which cannot wait so long, have them. */
  httpLimits?: Partial<HttpLimits>;
  senderLimits?: Partial<SenderLimits>;
  storageTimes?: Partial<StorageUpkeepTimes>;
  upkeepTimes?: Partial<UpkeepTimes>;
};

export const CONNECTION_TIMEOUT_MS = 3000;
