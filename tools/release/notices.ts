/** The licences of the packages that are part of the bundle, as they ask to be passed on. */
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

const manifest = z.object({ name: z.string(), version: z.string(), license: z.string().optional() });

export type BundledPackage = { name: string; version: string; folder: string; licence: string };

/** `folders` are relative to `root`. Throws for a package that names no licence. */
export async function readPackages(root: string, folders: readonly string[]): Promise<BundledPackage[]> {
  return Promise.all(
    folders.map(async (folder) => {
      const text = await readFile(join(root, folder, "package.json"), "utf8");
      const { name, version, license } = manifest.parse(JSON.parse(text));
      if (license === undefined) throw new Error(`${folder}/package.json names no licence`);
      return { name, version, folder, licence: license };
    }),
  );
}

/** One text: each package with its licence's files, or with the licence's name where it brings none. */
export async function writeNotices(root: string, packages: readonly BundledPackage[]): Promise<string> {
  const parts = await Promise.all(
    packages.map(async ({ name, version, folder, licence }) => {
      const files = globSync("{licen[cs]e,copying,notice,LICEN[CS]E,COPYING,NOTICE,License}{,.*,-*}", {
        cwd: join(root, folder),
      }).sort();
      const texts = await Promise.all(files.map((file) => readFile(join(root, folder, file), "utf8")));
      return [`${name} ${version} (${licence})`, ...texts.map((text) => text.trim())].join("\n\n");
    }),
  );
  const introduction = "Postern's program contains these packages. Node's own licence is in node/LICENSE.";
  return `${[introduction, ...parts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
