#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=8 --heap-growing-percent=100 --expose-gc
/** Runs the `postern` command. */
import { enableCompileCache } from "node:module";
import { stripVTControlCharacters } from "node:util";
import { runMain } from "citty";
import { checkArguments, UsageError, withOptionsForWords } from "./cli/arguments.ts";
import { commands } from "./cli/commands.ts";
import { usageOf } from "./cli/usage.ts";
import { hasCode } from "./shared/error-code.ts";

enableCompileCache();

// A reader that has enough, as `head` has, or a full disk must not end in the middle what a command changes.
process.stderr.on("error", () => undefined);
process.stdout.on("error", (error) => {
  if (hasCode(error, "EPIPE")) return;
  if (process.exitCode === undefined) console.error(`postern: its output can't be written: ${error.message}`);
  process.exitCode = 1;
});

const words = withOptionsForWords(process.argv.slice(2));
try {
  await checkArguments(commands, words);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`postern: ${error.message}\nAdd --help to a command to see what it takes.`);
  process.exit(2);
}
await runMain(commands, {
  rawArgs: [...words],
  // citty colours it for a file and a pager too.
  showUsage: async (command) => {
    const text = await usageOf(command, words);
    console.log(`${process.stdout.isTTY ? text : stripVTControlCharacters(text)}\n`);
  },
});
