/**
 * `node bench/fuzz-urls.ts [count] [seed]`: hostile URLs and addresses, judged by
 * the service's rules and by an independent classifier. The first on which they
 * disagree is cut down to its shortest form and printed, and the status is 1.
 */
import { fuzz } from "../test/support/url-fuzz.ts";

const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? 1);

const startedAtMs = performance.now();
const result = fuzz(count, seed);
const seconds = Number(((performance.now() - startedAtMs) / 1000).toFixed(1));
console.log(JSON.stringify({ ...result, seed, seconds }));
if (result.disagreement !== null) process.exitCode = 1;
