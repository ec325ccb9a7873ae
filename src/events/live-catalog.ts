/**
 * The catalog in force. That of a file is read again when the file changes: in
 * place, by a rename, or behind a symbolic link, as a ConfigMap's is. A changed
 * file with a fault is refused, and the catalog read before it stays in force.
 */
import { stat } from "node:fs/promises";
import { loadCatalog, type Catalog } from "./catalog.ts";
import { ConfigError, UnreadableFileError } from "../shared/config-error.ts";
import { messageOf } from "../shared/message-of.ts";

export type LiveCatalog = {
  /** Read it at each use. Work that must see one catalog throughout takes it once. */
  current(): Catalog;
};

/** What a look at the file found. `fault` names file, line and fault. */
export type CatalogLook = { kind: "unchanged" } | { kind: "read" } | { kind: "refused"; fault: string };

export type CatalogFile = LiveCatalog & {
  /** True while the file was changed and refused. */
  isRefused(): boolean;
  /** Reads a file that has changed, once it is the same at two looks: an editor may still write it. */
  look(): Promise<CatalogLook>;
};

const NO_FILE = "no file";
/** The next look tries again. */
const NOT_JUDGED = "not judged";

/** Throws ConfigError when the file cannot be read or has a fault. `undefined` means the built-in catalog. */
export async function openCatalog(file: string | undefined): Promise<CatalogFile> {
  // Before the content: a change in between is found by the first look.
  let judged = file === undefined ? NO_FILE : await versionOf(file);
  let catalog = await loadCatalog(file);
  // A pipe can be read only once, and is never looked at again.
  const isWatched = judged !== NO_FILE;
  let seen = judged;
  /** Why the file is refused. */
  let fault: string | null = null;
  return {
    current: () => catalog,
    isRefused: () => fault !== null,
    async look() {
      if (!isWatched || file === undefined) return { kind: "unchanged" };
      const found = await versionOf(file);
      const isSettled = found === seen;
      seen = found;
      if (!isSettled || found === judged) return { kind: "unchanged" };
      judged = found;
      try {
        // A pipe in its place must not be read: that would block the process.
        if (found === NO_FILE) throw new Error(`${file} cannot be found, or is not a file`);
        catalog = await loadCatalog(file);
      } catch (error) {
        if (!isOfContent(error)) judged = NOT_JUDGED;
        const earlier = fault;
        fault = messageOf(error);
        return fault === earlier && judged === NOT_JUDGED
          ? { kind: "unchanged" }
          : { kind: "refused", fault };
      }
      fault = null;
      return { kind: "read" };
    },
  };
}

/** What keeps a file from being read, as too many open files, passes without a change of the file. */
function isOfContent(error: unknown): boolean {
  return error instanceof ConfigError && !(error instanceof UnreadableFileError);
}

/** Differs whenever the content may: another file under the name, or another time or size of the same. */
async function versionOf(file: string): Promise<string> {
  try {
    const found = await stat(file, { bigint: true });
    if (!found.isFile()) return NO_FILE;
    const { dev, ino, size, mtimeNs, ctimeNs } = found;
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch {
    return NO_FILE;
  }
}
