/** Whether the target has the rows that the source has. */
import { ConfigError } from "../shared/config-error.ts";
import type { TenantId } from "../shared/id.ts";
import { readKeptSince, type KeptSince } from "./copy-store.ts";
import { countRows, type Counts, type MoveSite } from "./move-store.ts";

type Sites = { source: MoveSite; target: MoveSite };

/**
 * The log of the days that both shards keep, before anybody waits; the
 * dispatches are not copied yet. `catchUp` waits until the target has what the
 * source has. Counts anew where retention has dropped a day meanwhile.
 * @throws ConfigError when the copy lacks rows
 */
export async function compareLog(
  sites: Sites,
  tenantId: TenantId,
  catchUp: () => Promise<void>,
): Promise<void> {
  const { source, target } = sites;
  let since = await readKeptByBoth(sites);
  for (;;) {
    const needed = { ...(await countRows(source.db, tenantId, since)), dispatches: 0 };
    await catchUp();
    const found = await countRows(target.db, tenantId, since);
    const now = await readKeptByBoth(sites);
    if (isSame(since, now)) {
      requireAll(needed, found, target.name);
      return;
    }
    since = now;
  }
}

export async function readKeptByBoth({ source, target }: Sites): Promise<KeptSince> {
  const [one, other] = await Promise.all([readKeptSince(source.db), readKeptSince(target.db)]);
  return {
    events: later(one.events, other.events),
    deliveries: later(one.deliveries, other.deliveries),
  };
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function isSame(one: KeptSince, other: KeptSince): boolean {
  return (
    one.events.getTime() === other.events.getTime() && one.deliveries.getTime() === other.deliveries.getTime()
  );
}

/** @throws ConfigError when fewer were found than are needed */
export function requireAll(needed: Counts, found: Counts, target: string): void {
  const missing = (["endpoints", "dispatches", "events", "deliveries"] as const).filter(
    (name) => found[name] < needed[name],
  );
  if (missing.length === 0) return;
  throw lacking(
    target,
    missing.map((name) => `${needed[name] - found[name]} of ${needed[name]} ${name}`).join(", "),
  );
}

export function lacking(target: string, what: string): ConfigError {
  return new ConfigError(
    `The copy in ${target} lacks ${what}.\nUndo the move with --undo and begin again: the tenant is where it was.`,
  );
}
