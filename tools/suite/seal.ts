/** Accepts a change of the suite: layout, SHA256SUMS, and the digest pinned on this side. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "./json.ts";

/** Seals the suite and pins it; gives the new suite root, or null where the files cannot be read. */
export function sealSuite(python: string, suite: string, checkout: string): string | null {
  const { status } = spawnSync(python, [join(suite, "validate.py"), "--fmt", "--seal"], { stdio: "inherit" });
  if (status !== 0) return null;
  const root = sha256(readFileSync(join(suite, "SHA256SUMS")));
  const file = join(checkout, "tools", "suite", "suite-root.ts");
  const pinned = readFileSync(file, "utf8").replace(/"[0-9a-f]{64}"/, `"${root}"`);
  writeFileSync(file, pinned);
  return root;
}
