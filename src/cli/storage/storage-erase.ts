import { defineCommand } from "citty";
import type { Db } from "../../database/pool.ts";
import { ConfigError } from "../../shared/config-error.ts";
import type { TenantId } from "../../shared/id.ts";
import { byOperator } from "../../storage/library/change-artifacts.ts";
import { countErasable, eraseArtifacts, type Erasure } from "../../storage/library/erase.ts";
import { findStoredObject } from "../../storage/rows/stored-object-store.ts";
import { eraseRemains, type ErasedRemains } from "../../storage/upkeep/erase-remains.ts";
import { uuid } from "../../storage/rules/values.ts";
import { makeLog } from "../../telemetry/log.ts";
import { readCommandConfig } from "../command-config.ts";
import { withClearErrors } from "../command.ts";
import { confirm } from "../confirm.ts";
import { withReconciling, type Services } from "./reconciling.ts";
import { requireTenantId } from "../require-tenant-id.ts";

export const eraseCommand = defineCommand({
  meta: {
    name: "erase",
    description: "Erase a tenant's artifacts, or one: downloads end at once, and the bytes are deleted",
  },
  args: {
    tenant: { type: "string", required: true, description: "Tenant id" },
    object: { type: "string", description: "One artifact's id" },
    all: { type: "boolean", description: "Everything of the tenant" },
    yes: { type: "boolean", description: "Do not ask" },
    json: { type: "boolean", description: "As JSON" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const tenantId = requireTenantId(args.tenant);
      const objectId = args.object ?? null;
      if ((objectId === null) !== (args.all === true)) {
        throw new ConfigError("name one artifact with --object, or use --all for all of the tenant's");
      }
      if (objectId !== null && !uuid.safeParse(objectId).success) {
        throw new ConfigError("--object must be an artifact's id, in lower case");
      }
      const erase = async (services: Services): Promise<void> => {
        const count = await countErasable(services.db, { tenantId, objectId });
        if (args.yes !== true && (count > 0 || objectId === null))
          await confirm(`Erase ${count} of ${tenantId}? It cannot be undone.`);
        const changing = byOperator(services.db, tenantId);
        const each = eraseArtifacts({ changing, bucket: services.bucket }, objectId);
        const remains = () => (objectId === null ? eraseRemains(services, tenantId) : null);
        const { gone, there } = await (args.json === true
          ? printJson(each, remains)
          : printLines(each, remains));
        // Who erases for good, as by law, must see where it is not done; also of an id that is no artifact's.
        const isDone =
          there === 0 && (gone > 0 || objectId === null || (await isPurged(services.db, tenantId, objectId)));
        if (!isDone) process.exitCode = 1;
      };
      await withReconciling(await readCommandConfig(), makeLog("warn"), erase, [tenantId]);
    }),
});

/** A worker has deleted its bytes since an erasure before. */
async function isPurged(db: Db, tenantId: TenantId, objectId: string): Promise<boolean> {
  return (await findStoredObject(db, tenantId, objectId))?.state === "purged";
}

/** What is beside the rows goes last: by then the rows say what may go. */
type EraseRemains = () => Promise<ErasedRemains> | null;

/** Artifacts whose bytes are gone, and what is still there: other artifacts, and one for all without a row. */
type Outcome = { gone: number; there: number };

async function printJson(each: AsyncIterable<Erasure>, eraseRest: EraseRemains): Promise<Outcome> {
  const all = await Array.fromAsync(each);
  const artifactsOf = (wanted: Erasure["outcome"]) =>
    all.filter(({ outcome }) => outcome === wanted).map(({ artifact }) => artifact);
  const remains = await eraseRest();
  console.log(JSON.stringify({ erased: artifactsOf("erased"), left: artifactsOf("left"), remains }, null, 2));
  return outcomeOf(all.length, all.filter(isGone).length, remains);
}

/** As each is done: who ends it in the middle knows what was erased. */
async function printLines(each: AsyncIterable<Erasure>, eraseRest: EraseRemains): Promise<Outcome> {
  const counts = { erased: 0, left: 0, gone: 0 };
  for await (const erasure of each) {
    const { outcome, artifact } = erasure;
    counts[outcome]++;
    if (isGone(erasure)) counts.gone++;
    console.log(`${outcome.padEnd(6)}  ${artifact.id}  ${artifact.kind}  ${wordsOn(artifact)}`);
  }
  const remains = await eraseRest();
  if (remains !== null) {
    console.log(
      `Beside them ${remains.versions} versions and marks of deletion, and ${remains.trash} objects of the trash, were deleted.`,
    );
    if (remains.reason !== null) console.log(`What is there without a row was left: ${remains.reason}`);
  }
  console.log(
    `${counts.erased} erased: no link is given to them any more. The bytes of ${counts.gone} are gone, and links with them.`,
  );
  const waiting = counts.erased - counts.gone;
  if (waiting > 0)
    console.log(
      `Links that the object store serves stay good for the other ${waiting} until a worker has deleted them.`,
    );
  console.log(`${counts.left} left.`);
  return outcomeOf(counts.erased + counts.left, counts.gone, remains);
}

function isGone({ artifact }: Erasure): boolean {
  return "bytes" in artifact && artifact.bytes === "deleted";
}

function outcomeOf(all: number, gone: number, remains: ErasedRemains | null): Outcome {
  const hasRemains = remains !== null && remains.reason !== null;
  return { gone, there: all - gone + (hasRemains ? 1 : 0) };
}

function wordsOn(artifact: Erasure["artifact"]): string {
  if (!("bytes" in artifact)) return artifact.reason;
  const { size, bytes, reason } = artifact;
  return bytes === "deleted" ? `${size} bytes deleted` : `${size} bytes wait to be deleted: ${reason}`;
}
