/** What `postern doctor` says of the hosts of DATABASE_URL and of their standbys. */
import type { Config } from "../../config.ts";
import { requireCertificateFiles } from "../../database/certificate-files.ts";
import { crashTrouble, readCommitSettings } from "../../database/replication/commit-settings.ts";
import { durabilityTrouble, isSynchronous, STANDBY_GRANT } from "../../database/replication/durability.ts";
import { isTrouble } from "../../database/hosts/host-watch.ts";
import { hostsOf, tellHost, type HostState } from "../../database/hosts/hosts.ts";
import type { Db } from "../../database/pool.ts";
import { readReplication, type Standby } from "../../database/replication/replication-store.ts";
import { openTimelineFolder } from "../../database/hosts/timeline-folder.ts";
import { ConfigError } from "../../shared/config-error.ts";
import type { Finding } from "./finding.ts";
import { describeMistake } from "../mistakes.ts";

/** A finding for each host of a list, none for a single host. What keeps all of them from being asked is the finding `database`. */
export async function checkHosts({
  databaseUrl,
  dataDir,
}: Pick<Config, "databaseUrl" | "dataDir">): Promise<Finding[]> {
  if (databaseUrl === undefined) return [];
  try {
    requireCertificateFiles(databaseUrl);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
  const hosts = hostsOf(databaseUrl);
  if (hosts === null) return [];
  const silent = { info: () => undefined, warn: () => undefined };
  hosts.remember(openTimelineFolder(dataDir, silent));
  await hosts.look();
  return hosts.states().map(findingOf);
}

function findingOf(state: HostState): Finding {
  const check = "host";
  if (!isTrouble(state)) return { check, status: "ok", detail: tellHost(state) };
  const [, ...remedy] = (describeMistake(state.error) ?? "").split("\n");
  const fix = remedy.length > 0 ? remedy.join(" ") : REMEDY;
  // Another host may do: whether one does is the finding `database`.
  return { check, status: "warn", detail: tellHost(state), fix };
}

const REMEDY =
  "make it a standby of the primary, or take it out of DATABASE_URL (docs/operating.md, High availability)";

/** Whether a crash loses what was answered; and whether a failover does, where that is demanded or standbys are to be expected. */
export async function checkDurability(
  db: Db,
  { databaseUrl, durability }: Pick<Config, "databaseUrl" | "durability">,
): Promise<Finding[]> {
  const check = "durability";
  const atACrash = crashTrouble(await readCommitSettings(db));
  const hasSeveralHosts = databaseUrl !== undefined && hostsOf(databaseUrl) !== null;
  if (durability === "local" && atACrash !== null) return [{ check, status: "warn", ...atACrash }];
  if (durability === "local" && !hasSeveralHosts) return [];
  const replication = await readReplication(db);
  const trouble = durabilityTrouble(replication);
  const { standbys } = replication;
  if (trouble === null) {
    return [{ check, status: "ok", detail: `each commit is on a standby: ${tellStandbys(standbys ?? [])}` }];
  }
  if (durability === "standby") return [{ check, status: "fail", ...trouble }];
  if (standbys === null) {
    const fix = `let an administrator run: ${STANDBY_GRANT};`;
    return [{ check, status: "warn", detail: "local; /metrics can't show how the standbys follow", fix }];
  }
  return [
    {
      check,
      status: "ok",
      detail: `local, so a failover may lose the last commits: ${tellStandbys(standbys)}`,
    },
  ];
}

function tellStandbys(standbys: readonly Standby[]): string {
  if (standbys.length === 0) return "no standby follows";
  return standbys
    .toSorted((one, other) => Number(isSynchronous(other)) - Number(isSynchronous(one)))
    .map(({ name, syncState, lagBytes }) => `${name} (${syncState}, ${lagBytes} bytes behind)`)
    .join(", ");
}
