/** Has StrykerJS make other changes than its own. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** `mutate` gets each place of Babel's tree, and yields what to put there instead. */
type Mutator<Path> = { name: string; mutate: (path: Path) => Iterable<object> };

/** What StrykerJS goes through is a list; its package exports no place for other mutators. */
export async function replaceMutators<Path>(mutator: Mutator<Path>): Promise<void> {
  const own = createRequire(join(import.meta.dirname, "..", "..", "test", "mutation", "package.json"));
  const core = createRequire(own.resolve("@stryker-mutator/core"));
  const main = core.resolve("@stryker-mutator/instrumenter");
  const { allMutators } = await import(pathToFileURL(join(dirname(main), "mutators", "mutate.js")).href);
  allMutators.splice(0, allMutators.length, mutator);
}
