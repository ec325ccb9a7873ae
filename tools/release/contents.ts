/** The files of a release: the bundle, Node, migrations, ways to deploy it, and what its licences ask for. */
import { globSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Start } from "../build.ts";
import type { ReleaseFile } from "./archive.ts";
import type { NodeFiles } from "./node-binary.ts";

const FROM_CHECKOUT = ["LICENSE", "*.md", "docs/**", "deploy/**", "receivers/**", "migrations/**/*.sql"];

const OWNER_MAY_EXECUTE = 0o100;

/** All of a folder's files that match, by path. */
export async function readFiles(folder: string, patterns: string[]): Promise<ReleaseFile[]> {
  const entries = globSync(patterns, { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return Promise.all(
    paths.sort().map(async (path) => ({
      path: path.replaceAll("\\", "/"),
      data: await readFile(join(folder, path)),
      isExecutable: ((await stat(join(folder, path))).mode & OWNER_MAY_EXECUTE) !== 0,
    })),
  );
}

/** The same on every platform. */
export async function commonFiles(root: string, bundleFolder: string): Promise<ReleaseFile[]> {
  const bundle = await readFiles(bundleFolder, ["**"]);
  return [
    ...(await readFiles(root, FROM_CHECKOUT)),
    ...bundle.map(({ path, data }) => ({ path: `dist/${path}`, data })),
  ];
}

export function nodeFiles({ binary, licence }: NodeFiles): ReleaseFile[] {
  return [
    { path: "node/bin/node", data: binary, isExecutable: true },
    { path: "node/LICENSE", data: licence },
  ];
}

/** Starts the program on the Node of the release, from wherever the release or a link to this file lies. */
export function launcherFile({ environment, nodeOptions }: Start): ReleaseFile {
  const data = `#!/bin/sh
home=$(dirname "$(dirname "$(readlink -f "$0")")")
${environment.map((variable) => `export ${variable}\n`).join("")}exec "$home/node/bin/node" ${nodeOptions.join(" ")} "$home/dist/main.mjs" "$@"
`;
  return { path: "bin/postern", data, isExecutable: true };
}
