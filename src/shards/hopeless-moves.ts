/** What a move gives itself up for: it can't come to its end. */
import type { TenantId } from "../shared/id.ts";
import { hasSlot, isSubscribed, readWorkers, type Copy } from "./copy-store.ts";
import { faultOfStored } from "./move-faults.ts";
import { findStored, type MoveSite } from "./move-store.ts";

/** One applies the changes, another copies a table. */
const WORKERS = 2;

export class HopelessError extends Error {
  override readonly name = "HopelessError";
  /** What the operator can do. */
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

/** Without it the copy would lack changes. */
export async function requireSlot(source: MoveSite, copy: Copy): Promise<void> {
  if (await hasSlot(source.db, copy)) return;
  throw new HopelessError(
    `The server of ${source.name} has no replication slot of the move any more: another server has taken over, or the slot was dropped or has lost its log.`,
    "Begin again.",
  );
}

/** Looked for before the move began too; users and producers go on meanwhile. */
export async function requireNothingStored(source: MoveSite, tenantId: TenantId): Promise<void> {
  const stored = await findStored(source.db, tenantId);
  if (stored.length === 0) return;
  throw new HopelessError(faultOfStored(source.name, tenantId, stored), "Begin again then.");
}

/**
 * Each subscription keeps a worker of its server until its move ends. If they had all, no
 * table could be copied, and every move would wait for ever for the others to end.
 */
export async function requireFreeWorkers(target: MoveSite, copy: Copy): Promise<void> {
  if (await isSubscribed(target.db, copy)) return;
  const { most, taken } = await readWorkers(target.db);
  if (most - taken >= WORKERS) return;
  throw new HopelessError(
    `The server of ${target.name} has ${most} workers of logical replication (max_logical_replication_workers), and ${taken} are taken by other moves and subscriptions. A move needs ${WORKERS}.`,
    "Begin again when other moves have ended.",
  );
}
