/**
 * Decides as whom PostgreSQL runs, and where its files lie.
 *
 * PostgreSQL refuses to run as root, yet a newcomer on a fresh server is often
 * just that. From best to last:
 *
 * - not root: as ourselves, in the data folder;
 * - root, data folder open to others: as user 65534 (nobody) in the data folder;
 * - root, data folder below a closed one (/root is 0700): in a user namespace
 *   in which root appears as 65534; outside of it the server is still root's
 *   process without capabilities, and so reaches the folder;
 * - root, closed folder, no user namespaces: as 65534 in a folder of its own
 *   below /var/lib. Where the cluster went is written down in the data folder,
 *   and it stays there.
 */
import { type SpawnOptions, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "./embedded-binaries.ts";
import { copyFolderOnce } from "./embedded-files.ts";
import type { DatabaseLog } from "../log.ts";

const NOBODY = 65534;

export type Account = "self" | "nobody" | "namespace";
export type Placement = { account: Account; native: string; cluster: string };
/** `"auto"` chooses; the others insist on one way, for tests of each. */
export type RootMode = "auto" | "nobody" | "namespace" | "elsewhere";

export type PlacementRequest = {
  /** The embedded database's own folder inside the data folder. */
  home: string;
  binaries: Binaries;
  rootMode: RootMode;
  /** Where a cluster goes that cannot stay in a closed folder; normally /var/lib. */
  openFolder: string;
  log: DatabaseLog;
};

/** Chooses the account and prepares the folders it needs; throws if no way is left. */
export async function placeServer(request: PlacementRequest): Promise<Placement> {
  const { home, binaries, rootMode } = request;
  const cluster = join(home, "data");
  if (process.getuid?.() !== 0) return { account: "self", native: binaries.native, cluster };
  // Others may pass through, not list it; the password inside is 0600.
  await chmod(home, 0o711);
  const movedTo = join(home, "moved-to");
  if (existsSync(movedTo)) return placeElsewhere(request, (await readFile(movedTo, "utf8")).trim(), cluster);
  if ((rootMode === "auto" || rootMode === "nobody") && isOpenToNobody(home)) {
    return { account: "nobody", native: await nativeForNobody(binaries, home), cluster };
  }
  if ((rootMode === "auto" || rootMode === "namespace") && runs("namespace", binaries.native)) {
    return { account: "namespace", native: binaries.native, cluster };
  }
  if (rootMode === "auto" || rootMode === "elsewhere") {
    const folder = join(request.openFolder, `postern-${randomUUID().slice(0, 8)}`);
    await writeFile(movedTo, `${folder}\n`, { mode: 0o600 });
    return placeElsewhere(request, folder, cluster);
  }
  throw new Error(
    `PostgreSQL cannot run in ${home} as ${rootMode}. Set DATA_DIR to a folder that other users may enter.`,
  );
}

/** The program, arguments and options that run a PostgreSQL binary under the account. */
export function commandFor(
  account: Account,
  program: string,
  args: string[],
): { file: string; args: string[]; options: SpawnOptions } {
  // LC_ALL and TZ: messages and times of the server's log do not depend on who starts it.
  const options: SpawnOptions = { cwd: "/", env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" } };
  if (account === "self") return { file: program, args, options };
  if (account === "nobody") return { file: program, args, options: { ...options, uid: NOBODY, gid: NOBODY } };
  const namespace = ["--user", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, "--"];
  return { file: "unshare", args: [...namespace, program, ...args], options };
}

/** The user who must own the cluster's files, as seen from outside; undefined: leave them alone. */
export function ownerOf(account: Account): number | undefined {
  if (account === "self") return undefined;
  return account === "nobody" ? NOBODY : 0;
}

async function placeElsewhere(request: PlacementRequest, folder: string, from: string): Promise<Placement> {
  const { home, binaries, log } = request;
  try {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
  } catch (error) {
    throw new Error(
      `${home} is closed to other users, and ${folder} cannot be made. PostgreSQL does not run as root: ` +
        "set DATA_DIR to a folder that other users may enter, set DATABASE_URL, or run Postern as another user.",
      { cause: error },
    );
  }
  log.info(`The embedded database lies in ${folder}: ${home} is closed to the user it runs as.`);
  const native = await nativeForNobody(binaries, folder);
  const cluster = join(folder, "data");
  await moveCluster(from, cluster);
  return { account: "nobody", native, cluster };
}

async function nativeForNobody(binaries: Binaries, folder: string): Promise<string> {
  if (runs("nobody", binaries.native)) return binaries.native;
  const copy = join(folder, `binaries-${binaries.version}`, "native");
  await copyFolderOnce(binaries.native, copy);
  if (runs("nobody", copy)) return copy;
  throw new Error(
    `PostgreSQL does not run as another user from ${copy}. ` +
      "Run Postern as another user than root, or set DATABASE_URL.",
  );
}

/** A cluster made while the folder was open, or namespaces were allowed, goes along. */
async function moveCluster(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  await copyFolderOnce(from, to);
  await rename(from, `${from}.moved`);
}

function runs(account: Account, native: string): boolean {
  return canRun(account, join(native, "bin", "postgres"), ["--version"]);
}

function isOpenToNobody(folder: string): boolean {
  return canRun("nobody", "/bin/sh", ["-c", 'cd "$0"', folder]);
}

/** Whether a program runs under the account, and ends well. */
export function canRun(account: Account, program: string, args: string[]): boolean {
  const command = commandFor(account, program, args);
  return spawnSync(command.file, command.args, { ...command.options, stdio: "ignore" }).status === 0;
}
