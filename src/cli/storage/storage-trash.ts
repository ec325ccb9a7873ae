import { defineCommand } from "citty";
import { ConfigError } from "../../shared/config-error.ts";
import type { Bucket } from "../../storage/bytes/bucket.ts";
import { DAY_MS, fromMs, toMs } from "../../storage/rules/instants.ts";
import { storageTenantId } from "../../storage/rows/storage-ids.ts";
import { readDatabaseClock } from "../../storage/rows/stored-object-store.ts";
import { judgeOwner } from "../../storage/upkeep/ownership.ts";
import { emptyTrash, listTrash, restoreFromTrash, type TrashEntry } from "../../storage/upkeep/trash.ts";
import { makeLog } from "../../telemetry/log.ts";
import { readCommandConfig } from "../command-config.ts";
import { withClearErrors } from "../command.ts";
import { withReconciling, type Services } from "./reconciling.ts";
import { requireTenantId } from "../require-tenant-id.ts";

const CHOICE = {
  tenant: { type: "string", description: "Tenant id; default: all" },
  key: { type: "string", description: "Key that the object had; default: all" },
} as const;

const NOT_THERE = "the trash has no object that had this key: `postern storage trash list` shows the keys";

const NEXT = "An object that still has no row goes to the trash again, hours later.";

type Choice = { tenant?: string | undefined; key?: string | undefined };

const list = defineCommand({
  meta: { name: "list", description: "List objects without a row that comparing moved to the trash" },
  args: { ...CHOICE, json: { type: "boolean", description: "As JSON" } },
  run: ({ args }) =>
    withTrash(args, async ({ bucket }) => {
      const entries = await Array.fromAsync(chosen(bucket, args));
      if (args.json === true) return console.log(JSON.stringify(entries.map(toJson), null, 2));
      for (const { at, size, key } of entries) console.log(`${at}  ${String(size).padStart(11)}  ${key}`);
      console.log(`${entries.length} in the trash`);
    }),
});

const restore = defineCommand({
  meta: { name: "restore", description: "Put objects back where they were" },
  args: { ...CHOICE, all: { type: "boolean", description: "Everything in the trash" } },
  run: ({ args }) =>
    withTrash(args, async (services) => {
      requireChoice(args);
      let [restored, left] = [0, 0];
      try {
        for await (const entry of chosen(services.bucket, args)) {
          const end = await restoreFromTrash(services, entry);
          if (end === "restored") {
            restored++;
            continue;
          }
          left++;
          console.log(`left  ${entry.key}  ${end === "taken" ? "an object has this key" : "it is gone"}`);
        }
      } finally {
        // Also where the store refuses the rest.
        if (restored > 0) console.log(`${restored} restored. ${NEXT}`);
      }
      if (args.key !== undefined && restored + left === 0) throw new ConfigError(NOT_THERE);
      if (restored === 0) console.log("0 restored");
      if (left > 0) process.exitCode = 1;
    }),
});

const empty = defineCommand({
  meta: { name: "empty", description: "Delete objects of the trash for good" },
  args: {
    ...CHOICE,
    days: { type: "string", description: "Only objects that have been there for this many days" },
    all: { type: "boolean", description: "Everything in the trash" },
    yes: { type: "boolean", description: "Required, because it cannot be undone" },
  },
  run: ({ args }) =>
    withTrash(args, async (services) => {
      requireChoice({ ...args, all: args.all === true || args.days !== undefined });
      if (args.yes !== true) throw new ConfigError("this cannot be undone: add --yes");
      const trouble = await judgeOwner(services);
      if (trouble !== null) throw new ConfigError(trouble);
      // By the clock that told when each came.
      const until = fromMs(toMs(await readDatabaseClock(services.db)) - daysOf(args.days) * DAY_MS);
      let deleted = 0;
      try {
        const entries = chosen(services.bucket, args);
        for await (const { entry, refusal } of emptyTrash(services.bucket, entries, { until })) {
          if (refusal === null) {
            deleted++;
            continue;
          }
          process.exitCode = 1;
          console.log(`left  ${entry.key}  ${refusal}`);
        }
      } finally {
        // Also where the store refuses the rest.
        console.log(`${deleted} deleted for good`);
      }
    }),
});

export const trashCommand = defineCommand({
  meta: { name: "trash", description: "Objects without a row, before they are deleted for good" },
  subCommands: { list, restore, empty },
});

function withTrash({ tenant }: Choice, work: (services: Services) => Promise<void>): Promise<void> {
  return withClearErrors(async () => {
    const tenants = tenant === undefined ? [] : [requireTenantId(tenant)];
    await withReconciling(await readCommandConfig(), makeLog("warn"), work, tenants);
  });
}

async function* chosen(bucket: Bucket, { tenant, key }: Choice): AsyncGenerator<TrashEntry> {
  const prefix = tenant === undefined ? "" : `v1/t/${storageTenantId(requireTenantId(tenant))}/`;
  for await (const entry of listTrash(bucket, prefix)) {
    if (key === undefined || entry.key === key) yield entry;
  }
}

function requireChoice({ tenant, key, all }: Choice & { all?: boolean | undefined }): void {
  if (tenant === undefined && key === undefined && all !== true) {
    throw new ConfigError("name --key or --tenant, or use --all");
  }
}

function daysOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^[0-9]{1,4}$/.test(text)) throw new ConfigError("--days must be a number of days");
  return Number(text);
}

function toJson({ trashKey, key, at, size }: TrashEntry) {
  return { key, trashed_at: at, size, trash_key: trashKey };
}
