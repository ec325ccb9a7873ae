/**
 * Loaded into each thread of each process of a test before anything else. In
 * the dry run it records which mutants the thread reached; later it ends
 * endless loops.
 *
 * A process may be killed and a thread terminated at any moment, so the record
 * is written at once: a line at the first time that a mutant is reached, at the
 * second, the fourth and so on.
 */
import { openSync, writeSync } from "node:fs";
import { threadId } from "node:worker_threads";

const { MUTATION_COVERAGE: folder } = process.env;
// The name that instrumented files look for.
const stryker = (globalThis.__stryker__ ??= {});
// No test gets near it. An endless loop does within a second.
const MOST_HITS = 10_000_000;
/** From here on the counter is an ordinary property, which costs a hot place nothing. */
const COUNTED = 256;

if (folder === undefined) Object.assign(stryker, { hitLimit: MOST_HITS, hitCount: 0 });
else stryker.mutantCoverage = { static: makeCounters(), perTest: {} };

/** Instrumented files do `counters[id] = (counters[id] || 0) + 1`. */
function makeCounters() {
  // A process holds threads, and each has its own globals.
  const record = openSync(`${folder}/${process.pid}-${threadId}`, "a");
  const counts = new Map();
  const notYetOwn = {
    get: (_, id) => counts.get(id),
    set(_, id, count, counters) {
      counts.set(id, count);
      if ((count & (count - 1)) === 0) writeSync(record, `${id} ${count}\n`);
      if (count < COUNTED) return true;
      return Reflect.defineProperty(counters, id, { value: count, writable: true });
    },
  };
  return Object.create(new Proxy({}, notYetOwn));
}
