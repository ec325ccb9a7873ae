/** Where the events of messages are accepted: in the only database, or in their tenants' shards. */
import type { TakenEvents } from "../events/taken-events.ts";
import type { TenantId } from "../shared/id.ts";
import type { Metrics } from "../telemetry/metrics.ts";

export type Home = TakenEvents & {
  /** Its name; null: the only database. */
  shard: string | null;
  metrics: Pick<Metrics, "eventsAccepted">;
  /** Whether it is known not to answer, or not to be worked on yet. */
  isAway(): boolean;
};

export type Homes = {
  all: readonly Home[];
  /** The home that knows all tenants': where it does not answer, new ones are not found. */
  keeper: Home;
  /** Without asking; undefined: not known. */
  peek(tenantId: TenantId): Home | undefined;
  /** Asks for it. Null: one that this process does not have. */
  find(tenantId: TenantId): Promise<Home | null>;
};

/** A home refused an event because its tenant is, or may be, in another: the next look asks anew. */
export class TenantMovingError extends Error {
  override readonly name = "TenantMovingError";
}

export function onlyHome(taken: TakenEvents, metrics: Home["metrics"]): Homes {
  const home: Home = {
    shard: null,
    metrics,
    isAway: () => false,
    accept: (event, how) => taken.accept(event, how),
  };
  return { all: [home], keeper: home, peek: () => home, find: async () => home };
}
