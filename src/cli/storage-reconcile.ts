import { defineCommand } from "citty";
import type { JudgedPage } from "../storage/upkeep/reconcile-page.ts";
import type { PassOptions, PassSummary } from "../storage/upkeep/reconcile-pass.ts";
import { reconcileOnce } from "../storage/upkeep/storage-upkeep.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeLog } from "../telemetry/log.ts";
import { readCommandConfig } from "./command-config.ts";
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
      // The keys are a result for people; JSON is the summary alone.
      const tellKey = args.json === true ? console.error : console.log;
      const onPage = (page: JudgedPage) => showPage(page, tellKey);
      const summary = await runOnce({ isDryRun, isAcknowledged: args.acknowledge === true, onPage });
      if (args.json === true) console.log(JSON.stringify({ dry_run: isDryRun, ...summary }, null, 2));
      else tell(summary, isDryRun);
      if (summary.end !== "complete") process.exitCode = 1;
    }),
});

async function runOnce(options: PassOptions): Promise<PassSummary> {
  return withReconciling(await readCommandConfig(), makeLog("warn"), async (services) => {
    const summary = await reconcileOnce(services, options);
    if (summary !== null) return summary;
    throw new ConfigError("another process is reconciling this bucket right now; try again when it is done");
  });
}

/** Progress goes to the standard error, so that the standard output is the result alone. */
function showPage({ input, result }: JudgedPage, tellKey: (line: string) => void): void {
  const { decisions } = result.output;
  const last = decisions.at(-1)?.key ?? input.after ?? "the beginning";
  console.error(`${decisions.length} keys compared, up to ${last}`);
  for (const { key, class: keyClass, decision } of decisions) {
    if (decision !== "none") tellKey(`${decision.padEnd(11)}  ${keyClass.padEnd(18)}  ${key}`);
  }
}

function tell({ end, keys, decisions, undeleted, finished, refusal }: PassSummary, isDryRun: boolean): void {
  const kinds = Object.entries(decisions).map(([decision, count]) => `${decision} ${count}`);
  console.log(`${keys} keys: ${kinds.length === 0 ? "rows and objects agree" : kinds.join(", ")}`);
  if (finished > 0) console.log(`${finished} uploads finished that a process which died had left`);
  if (undeleted > 0) console.log(`${undeleted} objects could not be deleted; the next pass tries again`);
  if (refusal !== null)
    console.log(
      `An upload is whole and waits; the next pass tries again. Why it could not be made available: ${refusal}`,
    );
  if (isDryRun) console.log("nothing was changed");
  if (end === "halted") {
    console.log(
      "Stopped: one page would destroy more than 20 artifacts at once. If the dry run shows that this is right, go on with --acknowledge.",
    );
  }
}
