import { join } from "node:path";
import { defineCommand } from "citty";
import type { Config } from "../../config.ts";
import { withAdvisoryLock } from "../../database/advisory-lock.ts";
import { ConfigError } from "../../shared/config-error.ts";
import type { TenantId } from "../../shared/id.ts";
import { adoptObjects, type Adoption } from "../../storage/upkeep/adopt-objects.ts";
import { judgeOwner } from "../../storage/upkeep/ownership.ts";
import { makeLog } from "../../telemetry/log.ts";
import { readCommandConfig } from "../command-config.ts";
import { withClearErrors } from "../command.ts";
import { withReconciling, type Services } from "./reconciling.ts";
import { requireTenantId } from "../require-tenant-id.ts";

export const adoptCommand = defineCommand({
  meta: {
    name: "adopt",
    description: "Make rows for objects that have none, after the database was lost or restored",
  },
  args: {
    tenants: {
      type: "string",
      description: "Tenant ids, comma-separated, that neither the database nor an archive names",
    },
    "dry-run": { type: "boolean", description: "Show what would be adopted, and change nothing" },
    json: { type: "boolean", description: "As JSON" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const config = await readCommandConfig();
      const tenants = tenantsOf(args.tenants);
      const isDryRun = args["dry-run"] === true;
      const adopt = async (services: Services, own: Config): Promise<void> => {
        const trouble = await judgeOwner(services);
        if (trouble !== null) throw new ConfigError(trouble);
        const folder = join(own.dataDir, "adopting");
        const ran = await withAdvisoryLock(services.lock, `adopt ${services.bucket.name}`, () => {
          const each = adoptObjects(services, { tenants, isDryRun, folder });
          return args.json === true ? printJson(each) : printLines(each);
        });
        if (ran !== null) return;
        throw new ConfigError(
          "another command is adopting objects of this bucket right now; try again when it is done",
        );
      };
      await withReconciling(config, makeLog("warn"), adopt, tenants);
      if (isDryRun && args.json !== true) console.log("nothing was changed");
    }),
});

function tenantsOf(list: string | undefined): TenantId[] {
  return (list ?? "")
    .split(",")
    .filter(Boolean)
    .map((text) => requireTenantId(text.trim()));
}

async function printJson(each: AsyncIterable<Adoption>): Promise<void> {
  console.log(JSON.stringify(await Array.fromAsync(each), null, 2));
}

async function printLines(each: AsyncIterable<Adoption>): Promise<void> {
  const counts = { adopted: 0, left: 0 };
  for await (const adoption of each) {
    counts[adoption.outcome]++;
    const told = adoption.outcome === "adopted" ? adoption.tenantId : adoption.reason;
    console.log(`${adoption.outcome.padEnd(7)}  ${adoption.key}  ${told}`);
  }
  console.log(`${counts.adopted} adopted, ${counts.left} left`);
}
