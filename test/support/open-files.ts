import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

const OWN = "/proc/self/fd";

/** The files below a folder that this process has open, on Linux; elsewhere none is known. */
export async function openFilesBelow(folder: string): Promise<string[]> {
  const descriptors = await readdir(OWN).catch(() => []);
  const paths = await Promise.all(descriptors.map((name) => readlink(join(OWN, name)).catch(() => "")));
  return paths.filter((path) => path.startsWith(folder));
}
