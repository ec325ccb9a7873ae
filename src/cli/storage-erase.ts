import { defineCommand } from "citty";
import { ConfigError } from "../shared/config-error.ts";
import { byOperator } from "../storage/library/change-artifacts.ts";
import { countErasable, eraseArtifacts, type Erasure } from "../storage/library/erase.ts";
import { eraseRemains, type ErasedRemains } from "../storage/upkeep/erase-remains.ts";
import { uuid } from "../storage/rules/values.ts";
import { makeLog } from "../telemetry/log.ts";
import { readCommandConfig } from "./command-config.ts";
import { withClearErrors } from "./command.ts";
import { confirm } from "./confirm.ts";
import { withReconciling } from "./reconciling.ts";
import { requireTenantId } from "./require-tenant-id.ts";

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
      await withReconciling(await readCommandConfig(), makeLog("warn"), async (services) => {
        const count = await countErasable(services.db, { tenantId, objectId });
        if (args.yes !== true && (count > 0 || objectId === null))
          await confirm(`Erase ${count} of ${tenantId}? It cannot be undone.`);
        const changing = byOperator(services.db, tenantId);
        const each = eraseArtifacts({ changing, bucket: services.bucket }, objectId);
        const remains = () => (objectId === null ? eraseRemains(services, tenantId) : null);
        await (args.json === true ? printJson(each, remains) : printLines(each, remains));
      });
    }),
});

/** What is beside the rows goes last: by then the rows say what may go. */
type EraseRemains = () => Promise<ErasedRemains> | null;

async function printJson(each: AsyncIterable<Erasure>, eraseRest: EraseRemains): Promise<void> {
  const all = await Array.fromAsync(each);
  const artifactsOf = (wanted: Erasure["outcome"]) =>
    all.filter(({ outcome }) => outcome === wanted).map(({ artifact }) => artifact);
  const result = { erased: artifactsOf("erased"), left: artifactsOf("left"), remains: await eraseRest() };
  console.log(JSON.stringify(result, null, 2));
}

/** As each is done: who ends it in the middle knows what was erased. */
async function printLines(each: AsyncIterable<Erasure>, eraseRest: EraseRemains): Promise<void> {
  const counts = { erased: 0, left: 0, waiting: 0 };
  for await (const { outcome, artifact } of each) {
    counts[outcome]++;
    if ("bytes" in artifact && artifact.bytes === "waiting") counts.waiting++;
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
    `${counts.erased} erased: no link is given to them any more. The bytes of ${counts.erased - counts.waiting} are gone, and links with them.`,
  );
  if (counts.waiting > 0)
    console.log(
      `Links that the object store serves stay good for the other ${counts.waiting} until a worker has deleted them.`,
    );
  console.log(`${counts.left} left.`);
}

function wordsOn(artifact: Erasure["artifact"]): string {
  if (!("bytes" in artifact)) return artifact.reason;
  const { size, bytes, reason } = artifact;
  return bytes === "deleted" ? `${size} bytes deleted` : `${size} bytes wait to be deleted: ${reason}`;
}
