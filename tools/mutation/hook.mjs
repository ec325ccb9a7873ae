/**
 * Loaded into each process of a test before anything else. In the dry run it
 * writes which mutants the process passed; later it ends endless loops.
 */
import { writeFileSync } from "node:fs";

const { MUTATION_COVERAGE: folder, MUTATION_HIT_LIMIT: hitLimit } = process.env;
// The name that instrumented files look for.
const stryker = (globalThis.__stryker__ ??= {});

if (hitLimit !== undefined) Object.assign(stryker, { hitLimit: Number(hitLimit), hitCount: 0 });
if (folder !== undefined) {
  process.on("exit", () => {
    const passed = stryker.mutantCoverage?.static;
    if (passed !== undefined) writeFileSync(`${folder}/${process.pid}.json`, JSON.stringify(passed));
  });
}
