import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "./error-code.ts";

const OURS = 0o700;
/** As the umask leaves it, for what a server's own user must reach. */
export const OPEN = 0o777;

/**
 * A folder, for this user alone unless `mode` says otherwise, with those above it. Answers the first that was made.
 *
 * Node calls every refusal that it does not know "no such file", such as that
 * of a read-only disk: then the disk is asked once more, for its own answer.
 */
export async function makeFolders(folder: string, mode = OURS): Promise<string | undefined> {
  try {
    return await mkdir(folder, { recursive: true, mode });
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    const missing = await firstMissing(folder);
    await mkdir(missing, mode).catch((again: unknown) => {
      // Another has made it since: a caller would take that for a file in its place.
      if (!hasCode(again, "EEXIST")) throw again;
    });
    await mkdir(folder, { recursive: true, mode });
    return missing;
  }
}

async function firstMissing(folder: string): Promise<string> {
  const above = dirname(folder);
  const isThere = above === folder || (await stat(above).catch(() => null)) !== null;
  return isThere ? folder : firstMissing(above);
}
