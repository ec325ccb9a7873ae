/** Programs that tests need and no package manager of a language has: brought once, and kept in the checkout's cache. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const CACHE = join(import.meta.dirname, "..", "..", ".cache");
const LIMIT_MS = 600_000;

export type Tell = (line: string) => void;

export type Tool = {
  /** With the version in its name, so that another version is brought anew. */
  name: string;
  /** What is told while it is brought, which takes its time. */
  notice: string;
  /** Brings it into this empty folder. */
  bring(folder: string): { command: string; args: string[]; env?: NodeJS.ProcessEnv }[];
};

export function folderOf({ name }: Pick<Tool, "name">): string {
  return join(CACHE, name);
}

/** Brings the tool where it is not there yet. Null when it is ready, else why it cannot be had. */
export function prepareTool(tool: Tool, tell: Tell): string | null {
  const folder = folderOf(tool);
  if (existsSync(folder)) return null;
  tell(tool.notice);
  // Under another name until it is whole: a run that was killed leaves nothing half.
  const draft = `${folder}-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const failure = firstFailure(tool, draft);
  if (failure === null && !existsSync(folder)) renameSync(draft, folder);
  rmSync(draft, { recursive: true, force: true });
  return existsSync(folder) ? null : `${tool.name} could not be brought: ${failure ?? "no reason"}`;
}

function firstFailure(tool: Tool, draft: string): string | null {
  for (const { command, args, env } of tool.bring(draft)) {
    const run = spawnSync(command, args, {
      cwd: draft,
      env: { ...process.env, ...env },
      encoding: "utf8",
      timeout: LIMIT_MS,
    });
    if (run.status !== 0) return run.error?.message ?? run.stderr.trim().split("\n").at(-1) ?? "";
  }
  return null;
}
