import { defineCommand } from "citty";
import { judgeOwner, takeOver } from "../../storage/upkeep/ownership.ts";
import { makeLog } from "../../telemetry/log.ts";
import { readCommandConfig } from "../command-config.ts";
import { withClearErrors } from "../command.ts";
import { withReconciling } from "./reconciling.ts";

export const ownCommand = defineCommand({
  meta: {
    name: "own",
    description: "Say whether the bucket is this installation's, and make it so with --take-over",
  },
  args: {
    "take-over": {
      type: "boolean",
      description:
        "Write this installation's owner mark over any other: the bucket's objects are compared with these rows from then on",
    },
    json: { type: "boolean", description: "As JSON" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const isTaking = args["take-over"] === true;
      const result = await withReconciling(await readCommandConfig(), makeLog("warn"), async (services) => {
        const earlier = isTaking ? await takeOver(services) : null;
        return { bucket: services.bucket.name, trouble: await judgeOwner(services), earlier };
      });
      if (args.json === true) console.log(JSON.stringify(result, null, 2));
      else console.log(tell(result, isTaking));
      if (result.trouble !== null) process.exitCode = 1;
    }),
});

type Result = { bucket: string; trouble: string | null; earlier: string | null };

function tell({ bucket, trouble, earlier }: Result, isTaking: boolean): string {
  if (trouble !== null) return trouble;
  if (!isTaking) return `The bucket ${bucket} is this installation's.`;
  const from = earlier === null ? "It had no owner mark." : `Its owner mark named ${earlier}.`;
  return `The bucket ${bucket} is this installation's now. ${from}`;
}
