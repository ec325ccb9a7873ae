#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=8 --heap-growing-percent=100 --expose-gc
/** Runs the `postern` command. */
import { enableCompileCache } from "node:module";
import { stripVTControlCharacters } from "node:util";
import { runMain } from "citty";
import { checkArguments, UsageError } from "./cli/arguments.ts";
import { commands } from "./cli/commands.ts";
import { usageOf } from "./cli/usage.ts";
import { hasCode } from "./shared/error-code.ts";

enableCompileCache();

// A reader that has enough, as `head` has, must not end in the middle what a command changes.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error) => {
    if (!hasCode(error, "EPIPE")) throw error;
  });

const words = process.argv.slice(2);
try {
  await checkArguments(commands, words);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`postern: ${error.message}\nAdd --help to a command to see what it takes.`);
  process.exit(2);
}
await runMain(commands, {
  // citty colours it for a file and a pager too.
  showUsage: async (command) => {
    const text = await usageOf(command, words);
    console.log(`${process.stdout.isTTY ? text : stripVTControlCharacters(text)}\n`);
  },
});
