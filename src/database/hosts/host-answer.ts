/** Whether a host of a list may be written to, by its own answer and by what was seen before. Pure. */

/** One line about the server that a connection leads to. Its functions are open to every role. */
export const QUESTION = /* sql */ `SELECT pg_is_in_recovery() AS "isStandby",
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    -- The timeline that is written now. The control file has the old one until the first checkpoint after a promotion.
    CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END AS "walFile",
    (SELECT system_identifier::text FROM pg_control_system()) AS system`;

export type AnswerRow = { isStandby: boolean; isReadOnly: boolean; walFile: string | null; system: string };

/** `timeline` is null for a standby: it writes none. */
export type HostAnswer = { isReadOnly: boolean; timeline: number | null; system: string };

/** What must never be undercut. `system` is null before anything was seen. */
export type Seen = { system: string | null; timeline: number };

export function readAnswer({ isStandby, isReadOnly, walFile, system }: AnswerRow): HostAnswer {
  // A file of the write-ahead log is named by its timeline, in eight hexadecimal digits, and its place.
  const timeline = isStandby || walFile === null ? null : Number.parseInt(walFile.slice(0, 8), 16);
  return { isReadOnly, timeline, system };
}

/** Why the host must not be written to; null where it may. The words follow the host's name. */
export function refusalOf({ isReadOnly, timeline, system }: HostAnswer, seen: Seen): string | null {
  if (seen.system !== null && system !== seen.system) {
    return `belongs to another cluster (system identifier ${system}, not ${seen.system})`;
  }
  if (timeline === null) return "is a standby";
  if (timeline < seen.timeline) {
    return `is on timeline ${timeline}, and a newer primary on timeline ${seen.timeline} was seen: it is never written to again`;
  }
  return isReadOnly ? "is read-only" : null;
}
