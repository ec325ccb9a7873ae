import { createInterface } from "node:readline/promises";
import { defineCommand } from "citty";
import { createPool } from "../database/pool.ts";
import { ConfigError } from "../shared/config-error.ts";
import { parseTenantId } from "../shared/id.ts";
import { countErasable, eraseArtifacts, type Erasure } from "../storage/library/erase.ts";
import { uuid } from "../storage/rules/values.ts";
import { makeLog } from "../telemetry/log.ts";
import { readCommandConfig } from "./command-config.ts";
import { withClearErrors } from "./command.ts";
import { openDatabase } from "./run.ts";

const CONNECTION_TIMEOUT_MS = 5000;

export const eraseCommand = defineCommand({
  meta: {
    name: "erase",
    description:
      "Erase a tenant's artifacts, or one: nobody can download them from then on, and their bytes are deleted",
  },
  args: {
    tenant: { type: "string", required: true, description: "Tenant id" },
    object: { type: "string", description: "One artifact's id; default: all of the tenant" },
    yes: { type: "boolean", description: "Do not ask" },
    json: { type: "boolean", description: "As JSON" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const tenantId = parseTenantId(args.tenant);
      if (tenantId === null) throw new ConfigError("--tenant must be 1 to 64 of A-Z, a-z, 0-9, _ and -");
      const objectId = args.object ?? null;
      if (objectId !== null && !uuid.safeParse(objectId).success) {
        throw new ConfigError("--object must be an artifact's id, in lower case");
      }
      const database = await openDatabase(await readCommandConfig(), makeLog("warn"));
      const db = createPool({
        url: database.url,
        poolSize: 1,
        applicationName: "postern storage erase",
        connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
        role: "postern_worker",
      });
      try {
        const count = await countErasable(db, { tenantId, objectId });
        if (args.yes !== true && count > 0)
          await confirm(`Erase ${count} of ${tenantId}? It cannot be undone.`);
        const each = eraseArtifacts(db, { tenantId, objectId });
        await (args.json === true ? printJson(each) : printLines(each));
      } finally {
        await db.end();
        await database.stop();
      }
    }),
});

async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new ConfigError(`${question} Add --yes.`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} Type yes: `);
  lines.close();
  if (answer.trim() !== "yes") throw new ConfigError("nothing was erased");
}

async function printJson(each: AsyncIterable<Erasure>): Promise<void> {
  const all = await Array.fromAsync(each);
  const artifactsOf = (wanted: Erasure["outcome"]) =>
    all.filter(({ outcome }) => outcome === wanted).map(({ artifact }) => artifact);
  console.log(JSON.stringify({ erased: artifactsOf("erased"), left: artifactsOf("left") }, null, 2));
}

/** As each is done: who ends it in the middle knows what was erased. */
async function printLines(each: AsyncIterable<Erasure>): Promise<void> {
  const counts = { erased: 0, left: 0 };
  for await (const { outcome, artifact } of each) {
    counts[outcome]++;
    const told = "size" in artifact ? `${artifact.size} bytes` : artifact.reason;
    console.log(`${outcome.padEnd(6)}  ${artifact.id}  ${artifact.kind}  ${told}`);
  }
  console.log(
    `${counts.erased} erased: they can no longer be downloaded, and a worker deletes their bytes. ${counts.left} left.`,
  );
}
