/** What `postern doctor` says of what removes dead rows. */
import type { Db } from "../../database/pool.ts";
import type { Finding } from "./finding.ts";

/** Told only where nothing removes them: rows of the queue live for milliseconds, and each leaves a dead one. */
export async function checkVacuum(db: Db): Promise<Finding[]> {
  const { rows } = await db.query<{ autovacuum: string; track_counts: string }>(
    /* sql */ `SELECT current_setting('autovacuum') AS autovacuum, current_setting('track_counts') AS track_counts`,
  );
  const off = Object.entries(rows[0] ?? {}).flatMap(([name, value]) => (value === "off" ? [name] : []));
  if (off.length === 0) return [];
  return [
    {
      check: "vacuum",
      status: "warn",
      detail: `nothing removes the queue's dead rows, so each look at it takes longer: ${off.join(" and ")} ${off.length > 1 ? "are" : "is"} off`,
      fix: `set ${off.map((name) => `${name} = on`).join(" and ")} for the server`,
    },
  ];
}
