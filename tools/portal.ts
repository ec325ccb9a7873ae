/**
 * `npm run portal`: builds the portal into `portal/dist` when its sources changed
 * since the last build, and installs its packages when they are absent. `npm
 * start`, `npm test`, `npm run build` and `npm run release` do so too. With
 * `-- --watch` it builds again at each change, without compressing.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import * as z from "zod";
import { withFileLock } from "../src/database/embedded/embedded-lock.ts";
import { installOwnPackages } from "../test/support/own-packages.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "portal");
const built = join(folder, "dist");
/** In the built folder: what it was built from. */
const STAMP = "sources.sha256";
const SOURCES = [
  ...["src/**/*", "index.html", "vite.config.ts", "package-lock.json"].map((path) => `portal/${path}`),
  // The portal shows them.
  "receivers/*/*",
  "receivers/rust/src/*",
];
const BUILD_LIMIT_MS = 300_000;
/** What a first view may weigh gzipped: everything that the page of endpoints loads before a click. */
export const MAX_FIRST_VIEW_BYTES = 175_000;
const FIRST_PAGE = "src/pages/endpoints/page.tsx";

/** Builds what is not built yet. Answers the folder. Throws where the build fails. */
export async function buildPortal(tell: (line: string) => void): Promise<string> {
  return withFileLock(join(folder, ".build.lock"), BUILD_LIMIT_MS, async () => {
    const hash = hashSources();
    if ((await readFile(join(built, STAMP), "utf8").catch(() => "")) === hash) return built;
    const startedAt = performance.now();
    await installOwnPackages(folder, () => tell("Installing the portal's packages (once) …"), {
      omitsDev: true,
    });
    const draft = `${built}.draft`;
    runVite(["--outDir", draft, "--emptyOutDir"], "pipe");
    await compressAll(join(draft, "assets"));
    await writeFile(join(draft, STAMP), hash);
    await rm(built, { recursive: true, force: true });
    await rename(draft, built);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const kilobytes = ((await firstViewBytes()) / 1000).toFixed(1);
    tell(`Built the portal in ${seconds} s. Its first view is ${kilobytes} kB, gzipped.`);
    return built;
  });
}

/** The packages that are part of the built portal: their folders, relative to the checkout. */
export async function portalPackages(): Promise<string[]> {
  const names = z.array(z.string()).parse(JSON.parse(await readFile(join(built, "packages.json"), "utf8")));
  return names.map((name) => `portal/node_modules/${name}`);
}

const manifest = z.record(
  z.string(),
  z.object({
    file: z.string(),
    imports: z.array(z.string()).default([]),
  }),
);

/** The gzipped bytes of all files that the first view needs. */
export async function firstViewBytes(): Promise<number> {
  const chunks = manifest.parse(JSON.parse(await readFile(join(built, "manifest.json"), "utf8")));
  // One style sheet serves every page.
  const files = new Set(Object.values(chunks).flatMap(({ file }) => (file.endsWith(".css") ? [file] : [])));
  const add = (name: string): void => {
    const chunk = chunks[name];
    if (chunk === undefined) throw new Error(`${name} is no part of the built portal`);
    if (files.has(chunk.file)) return;
    files.add(chunk.file);
    for (const other of chunk.imports) add(other);
  };
  // It imports what runs before it.
  add(FIRST_PAGE);
  const sizes = await Promise.all(
    [...files].map(async (file) => (await stat(join(built, `${file}.gz`))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function hashSources(): string {
  const hash = createHash("sha256");
  for (const entry of globSync(SOURCES, { cwd: root, withFileTypes: true }).sort(byPath)) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update("\0");
  }
  return hash.digest("hex");
}

type Entry = { parentPath: string; name: string };

function byPath(one: Entry, other: Entry): number {
  return join(one.parentPath, one.name) < join(other.parentPath, other.name) ? -1 : 1;
}

function runVite(options: readonly string[], stdio: "pipe" | "inherit"): void {
  const program = join(folder, "node_modules", "vite", "bin", "vite.js");
  const args = [program, "build", "--logLevel", stdio === "pipe" ? "warn" : "info", ...options];
  // A developer's shell may set NODE_ENV, and Vite would make the portal for it.
  const env = { ...process.env, NODE_ENV: "production" };
  const run = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8", stdio });
  if (run.status !== 0)
    throw new Error(`The portal cannot be built:\n${run.stdout ?? ""}${run.stderr ?? ""}`);
}

/** Each file once more as .br and .gz, as the server sends it. */
async function compressAll(assets: string): Promise<void> {
  await Promise.all(
    (await readdir(assets)).map(async (name) => {
      const bytes = await readFile(join(assets, name));
      const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
      await writeFile(join(assets, `${name}.br`), await promisify(brotliCompress)(bytes, { params }));
      await writeFile(join(assets, `${name}.gz`), await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { watch: { type: "boolean", default: false } } });
  await buildPortal(console.log);
  if (values.watch) runVite(["--watch", "--emptyOutDir"], "inherit");
}
