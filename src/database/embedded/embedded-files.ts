/** Small steps on files that several processes may take at once. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  lchown,
  link,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { hasCode } from "../../shared/error-code.ts";

/**
 * The text of a file that only this user can read; made with `make()` when it
 * is absent. Of several processes that make it at once, one wins and all get
 * its text.
 */
export async function secretFile(path: string, make: () => string): Promise<string> {
  if (!existsSync(path)) {
    const draft = `${path}.${randomUUID()}`;
    try {
      await writeFile(draft, make(), { mode: 0o600 });
      await link(draft, path);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }
  return readFile(path, "utf8");
}

/** Copies a folder so that it is either wholly there or not at all. Its owner may add to the copy and remove it, whatever the modes of its folders were. */
export async function copyFolderOnce(from: string, to: string): Promise<void> {
  if (existsSync(to)) return;
  await mkdir(dirname(to), { recursive: true });
  const draft = `${to}.${randomUUID()}`;
  try {
    await cp(from, draft, { recursive: true, verbatimSymlinks: true });
    // Nothing could be added to a folder that may only be read, nor could it be removed.
    await letOwnerWrite(draft);
    await rename(draft, to);
  } catch (error) {
    if (!existsSync(to) || !hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
  } finally {
    // What was copied of it before a failure.
    await letOwnerWrite(draft).catch(() => undefined);
    await rm(draft, { recursive: true, force: true });
  }
}

async function letOwnerWrite(folder: string): Promise<void> {
  await chmod(folder, (await stat(folder)).mode | 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await letOwnerWrite(join(folder, entry.name));
  }
}

/** Gives a folder and all that is in it to a user. */
export async function chownAll(folder: string, uid: number, gid: number): Promise<void> {
  await chown(folder, uid, gid);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await chownAll(path, uid, gid);
    else await lchown(path, uid, gid);
  }
}
