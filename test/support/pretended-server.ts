/** A server that says other things of itself than it is: functions of these names come before PostgreSQL's own. */
import { randomUUID } from "node:crypto";
import type { TestDatabase } from "./postgres.ts";

export type Pretended = {
  /** The same database, where unqualified names mean these first. */
  url: string;
  say: (statements: readonly string[]) => Promise<void>;
};

/** @param statements as `FUNCTION pg_is_in_recovery() RETURNS boolean RETURN true` */
export async function pretend(
  { url, pool }: TestDatabase,
  statements: readonly string[],
): Promise<Pretended> {
  const schema = `said_${randomUUID().replaceAll("-", "")}`;
  await pool.query(`CREATE SCHEMA ${schema}; GRANT USAGE ON SCHEMA ${schema} TO PUBLIC`);
  const say = async (said: readonly string[]): Promise<void> => {
    for (const text of said) {
      await pool.query(`CREATE OR REPLACE ${text.replace(/^(FUNCTION|VIEW) /, `$1 ${schema}.`)}`);
    }
  };
  await say(statements);
  const pretending = new URL(url);
  pretending.searchParams.set("options", `-c search_path=${schema},pg_catalog`);
  return { url: pretending.href, say };
}

/** Of a host of a list, for `host-answer.ts`. */
export function sayHost({ timeline = 1, system = "1", isStandby = false }): string[] {
  const walFile = timeline.toString(16).toUpperCase().padStart(8, "0").padEnd(24, "0");
  return [
    `FUNCTION pg_is_in_recovery() RETURNS boolean RETURN ${isStandby}`,
    `FUNCTION pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS
      $$ BEGIN ${isStandby ? "RAISE 'recovery is in progress'" : "RETURN '0/1'"}; END $$`,
    `FUNCTION pg_walfile_name(pg_lsn) RETURNS text STRICT RETURN '${walFile}'`,
    `FUNCTION pg_control_system(OUT system_identifier bigint) RETURN ${system}`,
  ];
}
