/**
 * Archives whose bytes depend on nothing but their files: sorted, with one time
 * for all, owned by root, and without the compressor's time and platform.
 */
import { packTar, type TarEntry } from "modern-tar";
import { gzipSync } from "node:zlib";

export type ReleaseFile = {
  /** Relative, with slashes. */
  path: string;
  data: Uint8Array | string;
  isExecutable?: boolean | undefined;
};

/** A folder that someone other than root owns. Folders of files need none. */
export type OwnedFolder = { path: string; owner: number };

// Of a gzip header: where it names the system that compressed. 255 is "unknown".
const SYSTEM_BYTE = 9;

/** The files with their paths below a folder. */
export function below(folder: string, files: readonly ReleaseFile[]): ReleaseFile[] {
  return files.map(({ path, data, isExecutable }) => ({ path: `${folder}/${path}`, data, isExecutable }));
}

/** A tar of the files and their folders, every entry of the time `epochSeconds`. */
export async function packFiles(
  files: readonly ReleaseFile[],
  epochSeconds: number,
  ownedFolders: readonly OwnedFolder[] = [],
): Promise<Uint8Array> {
  const common = { mtime: new Date(epochSeconds * 1000), uid: 0, gid: 0 };
  const owners = new Map(ownedFolders.map(({ path, owner }) => [path, owner]));
  const folders = new Set([...files.flatMap(({ path }) => foldersAbove(path)), ...owners.keys()]);
  const entries: TarEntry[] = [...folders].map((path) => {
    const owner = owners.get(path) ?? 0;
    return {
      header: {
        ...common,
        name: `${path}/`,
        size: 0,
        type: "directory",
        mode: 0o755,
        uid: owner,
        gid: owner,
      },
    };
  });
  for (const { path, data, isExecutable } of files) {
    const body = typeof data === "string" ? Buffer.from(data) : data;
    const mode = isExecutable === true ? 0o755 : 0o644;
    entries.push({ header: { ...common, name: path, size: body.byteLength, type: "file", mode }, body });
  }
  entries.sort((a, b) => (a.header.name < b.header.name ? -1 : 1));
  return packTar(entries);
}

export function compress(bytes: Uint8Array): Uint8Array {
  const compressed = gzipSync(bytes);
  compressed[SYSTEM_BYTE] = 255;
  return compressed;
}

function foldersAbove(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
