/** Deletes the versions that a page was found to be rid of, once its transaction is committed. */
import type { Db } from "../../database/pool.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import type { ObjectDelete } from "../rules/mutations.ts";
import { findRowState } from "../rows/stored-object-store.ts";
import type { JudgedPage } from "./reconcile-page.ts";
import { moveToTrash } from "./trash.ts";

type Decisions = JudgedPage["result"]["output"]["decisions"];

/** Objects without a row go to the trash, expired ones for good. Answers how many are still there. */
export async function deleteObjects(
  { db, bucket }: { db: Db; bucket: Bucket },
  deletes: readonly ObjectDelete[],
  { now, decisions }: { now: string; decisions: Decisions },
): Promise<number> {
  const orphans = new Set(
    decisions.filter((one) => one.class === "object_without_row").map(({ key }) => key),
  );
  let undeleted = 0;
  for (const { key, version_id: versionId } of deletes) {
    const version = { key, versionId };
    try {
      if (orphans.has(key)) await moveToTrash(bucket, version, now);
      // A hold may have come since the page was read.
      else if ((await findRowState(db, bucket.name, key))?.hold !== true) await bucket.deleteVersion(version);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      undeleted++;
    }
  }
  return undeleted;
}
