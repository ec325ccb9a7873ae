/**
 * Finishes what a process that died left between an upload and its opening: the
 * bytes of an attempt are there, but were not recorded, nor checked by their
 * links. Exports are not among them: their run resumes.
 */
import type { Pool } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";
import { NOT_UPLOADED, StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import type { LinkProbes } from "../library/link-probes.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { readDatabaseClock } from "../rows/stored-object-store.ts";
import { readTenantSettings } from "../rows/tenant-settings-store.ts";
import { adoptUpload, decideOpening, openObject, OpeningRefusedError } from "../library/upload-object.ts";
import type { JudgedPage } from "./reconcile-page.ts";
import { findOwners } from "./reconcile-store.ts";

export type FinishServices = {
  db: Pool;
  bucket: Bucket;
  probes: LinkProbes;
  /** Days that artifacts are kept where a tenant chose nothing shorter. */
  planDays: number;
};

type Unfinished = { tenantId: TenantId; object: StoredObject };

/** How many became available; where one that is whole could not, why, and what to do. */
export type FinishedUploads = { finished: number; refusal: string | null };

/**
 * For a page that was applied. Uploads still under way are left to their
 * process; unreadable or failing ones to a later pass.
 */
export async function finishUploads(services: FinishServices, judged: JudgedPage): Promise<FinishedUploads> {
  const rows = unfinishedOf(judged);
  const done: FinishedUploads = { finished: 0, refusal: null };
  if (rows.length === 0) return done;
  const { db, bucket } = services;
  const owners = await findOwners(
    db,
    bucket.name,
    rows.map(({ key }) => key),
  );
  const recorded: Unfinished[] = [];
  try {
    // All before the first link is tried: while links cannot be, a row without its
    // version would come to look like one whose bytes are another's.
    for (const row of rows) {
      const tenantId = owners.get(row.key);
      const object = tenantId === undefined ? null : await withVersion(services, tenantId, row);
      if (tenantId !== undefined && object !== null) recorded.push({ tenantId, object });
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    done.refusal = error.message;
  }
  for (const unfinished of recorded) {
    try {
      if (await open(services, unfinished)) done.finished++;
    } catch (error) {
      if (!(error instanceof OpeningRefusedError || error instanceof StoreUnavailableError)) throw error;
      done.refusal = error.message;
      // One wait for a store that is away is enough of a page.
      if (error instanceof StoreUnavailableError) break;
    }
  }
  return done;
}

function unfinishedOf({ input, result }: JudgedPage): StoredObject[] {
  const settled = new Set(
    result.output.decisions.filter(({ decision }) => decision !== "in_flight").map(({ key }) => key),
  );
  const stored = new Set(input.objects.map(({ key }) => key));
  return input.rows.filter(
    ({ key, kind, state }) => state === "pending" && kind !== "export" && settled.has(key) && stored.has(key),
  );
}

async function withVersion(
  services: FinishServices,
  tenantId: TenantId,
  row: StoredObject,
): Promise<StoredObject | null> {
  return row.version_id === NOT_UPLOADED ? adoptUpload(services, tenantId, row) : row;
}

async function open(services: FinishServices, { tenantId, object }: Unfinished): Promise<boolean> {
  const { db, bucket, probes, planDays } = services;
  const now = await readDatabaseClock(db);
  const { artifactDays } = await readTenantSettings(db, tenantId);
  const opening = await decideOpening(
    bucket,
    {
      delivery: {
        id: object.delivery_id,
        tenant_id: storageTenantId(tenantId),
        latest_attempt: object.attempt,
      },
      object,
      archive_code: null,
      probes: await probes.sample(object, now),
      now,
    },
    { plan: planDays, tenant: artifactDays },
  );
  return openObject(db, opening, now);
}
