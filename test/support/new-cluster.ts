/** The folder of a PostgreSQL server for tests that start one by themselves. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { commandFor, ownerOf, type Placement } from "../../src/database/embedded/embedded-account.ts";

/** Makes it, for a superuser who needs no password. `options` are more of initdb's. */
export async function makeCluster(
  { account, native, cluster }: Placement,
  user: string,
  options: readonly string[] = [],
): Promise<void> {
  const owner = ownerOf(account);
  await mkdir(cluster, { mode: 0o700 });
  if (owner !== undefined) await chown(cluster, owner, owner);
  const command = commandFor(account, join(native, "bin", "initdb"), [
    `--pgdata=${cluster}`,
    `--username=${user}`,
    "--encoding=UTF8",
    "--locale=C",
    "--auth=trust",
    ...options,
  ]);
  const { status, stderr } = spawnSync(command.file, command.args, { ...command.options, encoding: "utf8" });
  assert.equal(status, 0, stderr);
}
