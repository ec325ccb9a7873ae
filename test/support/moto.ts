/**
 * A second object store for tests: moto, which knows every setting of a bucket
 * that the rules ask for. It checks no signature, so nothing else is tested on it.
 */
import { join } from "node:path";
import { packagesFolder, preparePythonPackages, type PythonPackages } from "./python-packages.ts";
import { freePort } from "./free-port.ts";
import { startStore, type ObjectStoreProcess } from "./versitygw.ts";

const MOTO: PythonPackages = {
  name: "moto",
  requirements: join(import.meta.dirname, "moto-requirements.txt"),
  about: "an object store for tests",
};

/** Installs it where it is not there yet. Null when it is ready, else why it cannot be had. */
export function prepareMoto(tell: (line: string) => void = () => undefined): string | null {
  return preparePythonPackages(MOTO, tell);
}

/** Starts an empty one, and gives this process a credential. Call `prepareMoto` first. */
export async function startMoto(): Promise<ObjectStoreProcess> {
  const port = await freePort();
  const args = ["-m", "moto.server", "--host", "127.0.0.1", "--port", String(port)];
  return startStore("python3", args, { port, env: { PYTHONPATH: packagesFolder(MOTO) } });
}
