/** Replication slots in the source that a copy leaves behind: each keeps the source's log for ever. */
import type { Db } from "../database/pool.ts";
import { hasCode } from "../shared/error-code.ts";
import type { Copy } from "./copy-store.ts";

/**
 * In the source: the slot of a copy that nobody subscribes to any more, and those of its tables that were being
 * copied. True once none is left: a server that has just lost its subscription may still hold one.
 */
export async function dropSlots(source: Db, { name }: Copy, others: string | null): Promise<boolean> {
  return dropWhere(source, "database = current_database() AND (slot_name = $1 OR slot_name LIKE $2)", [
    name,
    others,
  ]);
}

/** SQLSTATE object_in_use, undefined_object: of a slot that another command drops, or a server is at, since the look. */
const TAKEN = ["55006", "42704"];

/** True once none is left. */
async function dropWhere(source: Db, which: string, values: unknown[]): Promise<boolean> {
  try {
    await source.query(
      /* sql */ `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE ${which} AND NOT active`,
      values,
    );
  } catch (error) {
    if (!hasCode(error, ...TAKEN)) throw error;
  }
  const { rowCount } = await source.query(
    /* sql */ `SELECT FROM pg_replication_slots WHERE ${which}`,
    values,
  );
  return rowCount === 0;
}

export type TableSlot = { name: string; subscription: string };

/** The source's slots for single tables that a server copies, or was copying, with the number of its subscription. */
export async function readTableSlots(source: Db, server: string): Promise<TableSlot[]> {
  const { rows } = await source.query<TableSlot>(
    /* sql */ `SELECT slot_name AS name, split_part(slot_name, '_', 2) AS subscription FROM pg_replication_slots
      WHERE database = current_database() AND slot_name ~ ('^pg_[0-9]+_sync_[0-9]+_' || $1 || '$')`,
    [server],
  );
  return rows;
}

/** The target's server, and the numbers of all its subscriptions. */
export async function readSubscriptions(target: Db): Promise<{ server: string; subscriptions: string[] }> {
  const { rows } = await target.query<{
    server: string;
    subscriptions: string[];
  }>(/* sql */ `SELECT system_identifier::text AS server, ARRAY(SELECT oid::text FROM pg_subscription) AS subscriptions
      FROM pg_control_system()`);
  const [row] = rows;
  if (row === undefined) throw new Error("a question without a table has one row");
  return row;
}

/** True once none of them is left; one that is in use stays. */
export async function dropTableSlots(source: Db, names: readonly string[]): Promise<boolean> {
  return dropWhere(source, "slot_name = ANY ($1::text[])", [names]);
}
