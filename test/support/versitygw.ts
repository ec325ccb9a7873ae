/**
 * A real object store for tests: versitygw, which checks signatures, keeps
 * versions and verifies digests. It is built once, where Go is installed, and
 * kept in the checkout's cache.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { goBinary, prepareGoProgram, type GoProgram } from "./go-program.ts";
import { eventually } from "./eventually.ts";

const VERSITYGW: GoProgram = {
  name: "versitygw",
  path: "github.com/versity/versitygw/cmd/versitygw",
  version: "v1.8.0",
  about: "an object store for tests",
};
/** As the SDK finds them in the environment. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: "test-access", AWS_SECRET_ACCESS_KEY: "test-secret" };

/** Builds it where it is not there yet. Null when it is ready, else why it cannot be had. */
export function prepareVersitygw(tell: (line: string) => void = () => undefined): string | null {
  return prepareGoProgram(VERSITYGW, tell);
}

export type ObjectStoreProcess = { endpoint: string; stop(): Promise<void> };

/** `objects`: its folder of each bucket's current objects. */
export type Versitygw = ObjectStoreProcess & { objects: string };

/** Starts an empty one, and gives this process the credential for it. Call `prepareVersitygw` first. */
export async function startVersitygw(): Promise<Versitygw> {
  const folder = await mkdtemp(join(tmpdir(), "postern-versitygw-"));
  for (const name of ["objects", "versions"]) await mkdir(join(folder, name));
  const port = await freePort();
  const store = await startStore(
    goBinary(VERSITYGW),
    [
      ["--port", `127.0.0.1:${port}`, "--quiet"],
      ["posix", "--versioning-dir", join(folder, "versions"), join(folder, "objects")],
    ].flat(),
    {
      port,
      env: {
        ROOT_ACCESS_KEY_ID: CREDENTIALS.AWS_ACCESS_KEY_ID,
        ROOT_SECRET_ACCESS_KEY: CREDENTIALS.AWS_SECRET_ACCESS_KEY,
      },
    },
  );
  return {
    endpoint: store.endpoint,
    objects: join(folder, "objects"),
    async stop() {
      await store.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a program that serves an object store at a port of this machine, and waits until it answers. */
export async function startStore(
  command: string,
  args: string[],
  { port, env }: { port: number; env: Record<string, string> },
): Promise<ObjectStoreProcess> {
  Object.assign(process.env, CREDENTIALS);
  const child = spawn(command, args, { stdio: "ignore", env: { ...process.env, ...env } });
  const exited = once(child, "exit");
  const endpoint = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended at once`);
    return fetch(endpoint).then(
      () => true,
      () => false,
    );
  });
  return {
    endpoint,
    async stop() {
      child.kill();
      await exited;
    },
  };
}
