import { defineCommand } from "citty";
import { environment, readConfig } from "../config.ts";
import type { JudgedPage } from "../storage/reconcile/reconcile-page.ts";
import type { PassSummary } from "../storage/reconcile/reconcile-pass.ts";
import { reconcileOnce } from "../storage/reconcile/storage-upkeep.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeLog } from "../telemetry/log.ts";
import { withClearErrors } from "./command.ts";
import { withReconciling } from "./reconciling.ts";

export const reconcile = defineCommand({
  meta: {
    name: "reconcile",
    description: "Compare the rows of stored artifacts with the bucket now, as workers do every half hour",
  },
  args: {
    "dry-run": { type: "boolean", description: "Tell what would be done, and change nothing" },
    acknowledge: {
      type: "boolean",
      description: "Go on although a page would destroy much: you have seen the dry run, and it is right",
    },
    json: { type: "boolean", description: "The summary as JSON" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const isDryRun = args["dry-run"] === true;
      const summary = await runOnce({ isDryRun, isAcknowledged: args.acknowledge === true });
      if (args.json === true) console.log(JSON.stringify({ dry_run: isDryRun, ...summary }, null, 2));
      else tell(summary, isDryRun);
      if (summary.end !== "complete") process.exitCode = 1;
    }),
});

/** Progress goes to the standard error, so that the standard output is the result alone. */
function runOnce(options: { isDryRun: boolean; isAcknowledged: boolean }): Promise<PassSummary> {
  return withReconciling(readConfig(environment()), makeLog("warn"), async (services) => {
    const onPage = (page: JudgedPage) => showPage(page, options.isDryRun);
    const summary = await reconcileOnce(services, { ...options, onPage });
    if (summary !== null) return summary;
    throw new ConfigError("another process is reconciling this bucket right now; try again when it is done");
  });
}

function showPage({ input, result }: JudgedPage, isDryRun: boolean): void {
  const { decisions } = result.output;
  const last = decisions.at(-1)?.key ?? input.after ?? "the beginning";
  console.error(`${decisions.length} keys compared, up to ${last}`);
  if (!isDryRun) return;
  for (const { key, class: keyClass, decision } of decisions) {
    if (decision !== "none") console.error(`  ${decision.padEnd(11)}  ${keyClass.padEnd(18)}  ${key}`);
  }
}

function tell({ end, keys, decisions, undeleted, finished }: PassSummary, isDryRun: boolean): void {
  const kinds = Object.entries(decisions).map(([decision, count]) => `${decision} ${count}`);
  console.log(`${keys} keys: ${kinds.length === 0 ? "rows and objects agree" : kinds.join(", ")}`);
  if (finished > 0) console.log(`${finished} uploads finished that a process which died had left`);
  if (undeleted > 0) console.log(`${undeleted} objects could not be deleted; the next pass tries again`);
  if (isDryRun) console.log("nothing was changed");
  if (end === "halted") {
    console.log(
      "Stopped: one page would destroy more than 20 artifacts at once. If the dry run shows that this is right, go on with --acknowledge.",
    );
  }
}
