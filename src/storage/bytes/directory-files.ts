/**
 * Files that appear whole or not at all, and are never reached by a link.
 */
import { constants, type Stats } from "node:fs";
import { link, open, realpath, rm, rmdir, type FileHandle } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { hasCode } from "../../shared/error-code.ts";
import { makeFolders } from "../../shared/make-folders.ts";
import { isAbsent } from "./directory-listing.ts";

/** Opens for reading; null where there is no such regular file. Symbolic links anywhere in the path are refused. */
export async function openRegular(root: string, path: string): Promise<FileHandle | null> {
  try {
    const folder = await realpath(dirname(path));
    if (folder !== join(await realpath(root), relative(root, dirname(path)))) return null;
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    if ((await statOrClose(file)).isFile()) return file;
    await file.close();
    return null;
  } catch (error) {
    if (isAbsent(error) || hasCode(error, "ELOOP")) return null;
    throw error;
  }
}

/** An open file of which nothing can be told is of no use to anybody, and would stay open. */
export async function statOrClose(file: FileHandle): Promise<Stats> {
  try {
    return await file.stat();
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A deletion beside us may remove the folder as often as it is made, but not forever. */
const TRIES = 100;

/**
 * Gives a finished file its place, unless something has it already. The name
 * and all folders above it survive a crash once this returns.
 *
 * @returns false where the place is taken.
 */
export async function placeExclusively(from: string, path: string): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      await makeSynced(dirname(path));
      // Unlike a rename, a link never replaces what is there.
      await link(from, path);
      await syncFolder(dirname(path));
      return true;
    } catch (error) {
      if (hasCode(error, "EEXIST")) return false;
      // The folder was removed since it was made, or the finished file is gone, or a file is where a folder should be.
      if (!isAbsent(error) || tries === TRIES) throw error;
    }
  }
}

/** Removes a file, and the folders above it that this leaves empty. */
export async function removeFile(root: string, path: string): Promise<void> {
  await rm(path, { force: true });
  let folder = dirname(path);
  try {
    await syncFolder(folder);
    while (folder !== root && folder.startsWith(root)) {
      await rmdir(folder);
      folder = dirname(folder);
    }
  } catch (error) {
    if (!isAbsent(error) && !hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
  }
}

/** Makes the names in a folder survive a crash. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function makeSynced(folder: string): Promise<void> {
  const first = await makeFolders(folder);
  if (first === undefined) return;
  // A new folder is an entry of the one above it.
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}
