/** Programs in Go that tests need: built once, where Go is installed, and kept in the checkout's cache. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const CACHE = join(import.meta.dirname, "..", "..", ".cache");
const BUILD_LIMIT_MS = 600_000;

/** `name` is that of the binary, `path` that of its main package. */
export type GoProgram = { name: string; path: string; version: string; about: string };

export function goBinary({ name, version }: GoProgram): string {
  return join(CACHE, `${name}-${version}`, name);
}

/** Builds it where it is not there yet. Null when it is ready, else why it cannot be had. */
export function prepareGoProgram(program: GoProgram, tell: (line: string) => void): string | null {
  const { name, path, version, about } = program;
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(goBinary(program))) return null;
  if (spawnSync("go", ["version"]).status !== 0) return `Go is not installed, so ${name} was not built`;
  tell(`Building ${name} ${version}, ${about} (once, a minute or two) …`);
  // Under another name until it is whole: a build that was killed leaves nothing half.
  const draft = `${folder}-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const build = spawnSync("go", ["install", `${path}@${version}`], {
    env: { ...process.env, GOBIN: draft, CGO_ENABLED: "0" },
    encoding: "utf8",
    timeout: BUILD_LIMIT_MS,
  });
  if (build.status === 0 && !existsSync(folder)) renameSync(draft, folder);
  rmSync(draft, { recursive: true, force: true });
  if (existsSync(goBinary(program))) return null;
  return `${name} was not built: ${build.error?.message ?? build.stderr.trim().split("\n").at(-1) ?? ""}`;
}
