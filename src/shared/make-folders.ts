import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "./error-code.ts";

const OURS = { recursive: true, mode: 0o700 } as const;

/**
 * A folder for this user alone, with those above it. Answers the first that was made.
 *
 * Node calls every refusal that it does not know "no such file", such as that
 * of a read-only disk: then the disk is asked once more, for its own answer.
 */
export async function makeFolders(folder: string): Promise<string | undefined> {
  try {
    return await mkdir(folder, OURS);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    const missing = await firstMissing(folder);
    await mkdir(missing, OURS.mode).catch((again: unknown) => {
      // Another has made it since: a caller would take that for a file in its place.
      if (!hasCode(again, "EEXIST")) throw again;
    });
    await mkdir(folder, OURS);
    return missing;
  }
}

async function firstMissing(folder: string): Promise<string> {
  const above = dirname(folder);
  const isThere = above === folder || (await stat(above).catch(() => null)) !== null;
  return isThere ? folder : firstMissing(above);
}
