/**
 * A second object store for tests: moto, which knows every setting of a bucket
 * that the rules ask for. It checks no signature, so nothing else is tested on it.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folderOf, prepareTool, pythonPackages, type Tell } from "./prepared-tool.ts";
import { freePort, startStore, type ObjectStoreProcess } from "./versitygw.ts";

const REQUIREMENTS = join(import.meta.dirname, "moto-requirements.txt");
const PINS = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex").slice(0, 12);
const TOOL = pythonPackages(`moto-${PINS}`, REQUIREMENTS);

/** Installs it where it is not there yet. Null when it is ready, else why it cannot be had. */
export function prepareMoto(tell: Tell = () => undefined): string | null {
  return prepareTool(TOOL, tell);
}

/** Starts an empty one, and gives this process a credential. Call `prepareMoto` first. */
export async function startMoto(): Promise<ObjectStoreProcess> {
  const port = await freePort();
  const args = ["-m", "moto.server", "--host", "127.0.0.1", "--port", String(port)];
  return startStore("python3", args, { port, env: { PYTHONPATH: folderOf(TOOL) } });
}
