/** The commands of the how-tos, run as they stand there. */
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "../../src/config.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PAGES = join(ROOT, "docs", "how-to");

/** A page's blocks of code in a language, in their order. */
export async function blocksOf(page: string, language: string): Promise<string[]> {
  const text = await readFile(join(PAGES, page), "utf8");
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  return Array.from(blocks, ([, code = ""]) => code);
}

/** Its shell commands. */
export function commandsOf(page: string): Promise<string[]> {
  return blocksOf(page, "sh");
}

export type Ran = { stdout: string; stderr: string; hasFailed: boolean };

export type Shell = {
  /** `postern` is this program. */
  run(command: string, variables: Record<string, string>): Promise<Ran>;
  close(): Promise<void>;
};

/** A shell with the settings of a service. */
export async function openShell(settings: Environment): Promise<Shell> {
  const folder = await mkdtemp(join(tmpdir(), "postern-commands-"));
  const postern = join(folder, "postern");
  await writeFile(postern, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "src", "main.ts")}" "$@"\n`);
  await chmod(postern, 0o755);
  return {
    async run(command, variables) {
      const path = `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
      const env = { ...process.env, ...settings, ...variables, PATH: path };
      const run = promisify(execFile)("sh", ["-c", command], { env }).catch((error: unknown) => ({
        ...Object(error),
        hasFailed: true,
      }));
      const { stdout, stderr, hasFailed = false } = await run;
      return { stdout: String(stdout), stderr: String(stderr), hasFailed };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
