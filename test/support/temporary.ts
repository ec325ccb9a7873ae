/** Paths below the temporary folder, removed as the test's process exits. */
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";

const paths: string[] = [];
// One listener for all: node warns of more than ten.
process.once("exit", () => {
  for (const path of paths) rmSync(path, { recursive: true, force: true });
});

/** A path where nothing is yet. The caller makes a file or a folder there. */
export function temporaryPath(name: string): string {
  const path = join(tmpdir(), `postern-${randomUUID()}-${name}`);
  paths.push(path);
  return path;
}
