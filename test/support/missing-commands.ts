import { spawnSync } from "node:child_process";

/** Why tests that run these commands of the machine do not run; false where all are there. */
export function missingCommands(...commands: readonly string[]): string | false {
  const missing = commands.find((command) => spawnSync(command, ["--version"]).error !== undefined);
  return missing !== undefined && `DID NOT RUN: ${missing} is not installed`;
}
