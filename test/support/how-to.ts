/** The pages of docs/how-to, whose commands tests run as they stand there. */
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { MAIN } from "./program.ts";

const ROOT = join(import.meta.dirname, "../..");

const FENCED = {
  sh: /^ *```sh\n([\s\S]*?)^ *```$/gm,
  yaml: /^ *```yaml\n([\s\S]*?)^ *```$/gm,
  js: /^ *```js\n([\s\S]*?)^ *```$/gm,
};

/** The blocks of one kind of a page, in their order. */
export async function blocksOf(page: string, kind: keyof typeof FENCED): Promise<string[]> {
  const text = await readFile(join(ROOT, "docs", "how-to", page), "utf8");
  return Array.from(text.matchAll(FENCED[kind]), ([, block = ""]) => block);
}

/** The shell commands of a page, in their order. */
export const commandsOf = (page: string): Promise<string[]> => blocksOf(page, "sh");

/** A new folder with `postern` as a command; the caller removes it. */
export async function folderOfCommand(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "postern-commands-"));
  const postern = join(folder, "postern");
  await writeFile(postern, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  await chmod(postern, 0o755);
  return folder;
}

/** Runs it in the folder. */
export async function runShell(
  command: string,
  { folder, env }: { folder: string; env: Record<string, string | undefined> },
) {
  const PATH = `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
  const options = { cwd: folder, env: { ...process.env, ...env, PATH } };
  const run = promisify(execFile)("sh", ["-c", command], options).catch((error: unknown) => ({
    ...Object(error),
    hasFailed: true,
  }));
  const { stdout, stderr, hasFailed = false } = await run;
  return { stdout: String(stdout), stderr: String(stderr), hasFailed };
}
