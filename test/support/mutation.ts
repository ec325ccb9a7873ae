/** What mutation testing (docs/testing.md) sets in the environment of a test file. Nothing of it is set in other runs. */
import type { Environment } from "../../src/config.ts";

export const MUTATION = {
  /** Where instrumented sources look for the mutant that they are. StrykerJS gave it its name. */
  active: "__STRYKER_ACTIVE_MUTANT__",
  /** The folder for what each thread of each process reached. */
  coverage: "MUTATION_COVERAGE",
  /** How long `eventually` waits, in milliseconds. */
  waitLimit: "MUTATION_WAIT_LIMIT_MS",
} as const;

/** For programs that a test starts in an environment of their own: without it they run unchanged and unrecorded. */
export function mutationSettings(env: Environment = process.env): Environment {
  const names = [MUTATION.active, MUTATION.coverage];
  if (names.every((name) => env[name] === undefined)) return {};
  return Object.fromEntries([...names, "NODE_OPTIONS"].map((name) => [name, env[name]]));
}
