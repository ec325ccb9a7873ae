/** How the database's standbys follow: for `/metrics`, and for `/ready` where DURABILITY=standby demands one. */
import type { Metrics } from "../../telemetry/metrics.ts";
import { durabilityTrouble } from "./durability.ts";
import type { Db } from "../pool.ts";
import { readReplication } from "./replication-store.ts";

export type ReplicationMonitor = {
  /** Why commits may be lost in a failover although DURABILITY=standby demands otherwise; null where not. */
  trouble(): Promise<string | null>;
  /** Brings the gauges up to date. */
  look(): Promise<void>;
};

type Options = { db: Db; metrics: Metrics; durability: "local" | "standby"; hasSeveralHosts: boolean };

/** Without standbys to be expected, it asks nothing. */
export function makeReplicationMonitor({
  db,
  metrics,
  durability,
  hasSeveralHosts,
}: Options): ReplicationMonitor {
  const demandsStandby = durability === "standby";

  async function read() {
    const replication = await readReplication(db);
    metrics.standbyLagBytes.reset();
    metrics.standbyLagSeconds.reset();
    // Of two with one name, the one that is further behind is shown.
    const standbys = (replication.standbys ?? []).toSorted((one, other) => one.lagBytes - other.lagBytes);
    for (const { name, syncState, lagBytes, lagSeconds } of standbys) {
      const labels = { standby: name, sync_state: syncState };
      metrics.standbyLagBytes.set(labels, lagBytes);
      metrics.standbyLagSeconds.set(labels, lagSeconds ?? 0);
    }
    return replication;
  }

  return {
    async trouble() {
      if (!demandsStandby) return null;
      const trouble = durabilityTrouble(await read());
      return trouble === null ? null : `${trouble.detail}: ${trouble.fix}`;
    },
    async look() {
      if (demandsStandby || hasSeveralHosts) await read();
    },
  };
}
