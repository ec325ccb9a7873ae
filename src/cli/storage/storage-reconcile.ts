import { defineCommand } from "citty";
import type { JudgedPage } from "../../storage/upkeep/reconcile-page.ts";
import type { PassOptions, PassSummary } from "../../storage/upkeep/reconcile-pass.ts";
import { reconcileOnce } from "../../storage/upkeep/storage-upkeep.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { makeLog } from "../../telemetry/log.ts";
import { readCommandConfig } from "../command-config.ts";
import { withClearErrors } from "../command.ts";
import { withReconciling } from "./reconciling.ts";

export const reconcile = defineCommand({
  meta: {
    name: "reconcile",
    description: "Compare the rows of stored artifacts with the bucket now, as workers do every half hour",
  },
  args: {
    "dry-run": { type: "boolean", description: "Show what would be done, and change nothing" },
    acknowledge: {
      type: "string",
      description: "Do what the dry run with this digest showed, however much it destroys",
    },
    json: { type: "boolean", description: "The summary as JSON" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const isDryRun = args["dry-run"] === true;
      // The keys are a result for people; JSON is the summary alone.
      const tellKey = args.json === true ? console.error : console.log;
      const onPage = (page: JudgedPage) => showPage(page, tellKey);
      const digest = args.acknowledge;
      if (digest !== undefined && (isDryRun || !/^[0-9a-f]{64}$/.test(digest)))
        throw new ConfigError("--acknowledge takes the digest that --dry-run prints");
      const acknowledged = digest === undefined ? {} : { acknowledged: digest };
      const summary = await runOnce({ isDryRun, ...acknowledged, onPage });
      if (args.json === true) console.log(JSON.stringify({ dry_run: isDryRun, ...summary }, null, 2));
      else for (const line of describePass(summary, isDryRun)) console.log(line);
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

export function describePass(summary: PassSummary, isDryRun: boolean): string[] {
  const { end, reason, keys, decisions, destruction, undeleted, relinked, finished, refusal } = summary;
  const kinds = Object.entries(decisions).map(([decision, count]) => `${decision} ${count}`);
  const lines: string[] = [];
  // A pass that stopped before its first page knows nothing.
  if (keys > 0 || end === "complete")
    lines.push(`${keys} keys: ${kinds.length === 0 ? "rows and objects agree" : kinds.join(", ")}`);
  if (relinked > 0) lines.push(`${relinked} artifacts have their bytes again, which lay under other keys`);
  if (finished > 0) lines.push(`${finished} uploads finished that a process which died had left`);
  if (undeleted > 0) lines.push(`${undeleted} objects could not be deleted; the next pass tries again`);
  if (refusal !== null)
    lines.push(
      `An upload is whole and waits; the next pass tries again. Why it could not be made available: ${refusal}`,
    );
  if (isDryRun) {
    lines.push("nothing was changed");
    if (reason !== null) lines.push(`A pass would stop: ${reason}`);
    lines.push(
      `${destruction.number} results destroy something. To do exactly this: --acknowledge ${destruction.digest}`,
    );
  }
  if (end === "halted") {
    lines.push(
      `Stopped: ${reason}. To go on, run --dry-run, and then --acknowledge with the digest that it prints.`,
    );
  }
  if (end === "unapproved") {
    lines.push("Stopped: what would be destroyed is not what that dry run showed. Run --dry-run again.");
  }
  if (end === "refused") lines.push(`Stopped: ${reason}`);
  return lines;
}
