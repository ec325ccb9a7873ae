/** Prepares the validator's Python: a virtual environment in the checkout, made once. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const isWindows = process.platform === "win32";

export interface Python {
  command: string;
  /** Why the packages could not be prepared; the validator then says BLOCKED and what to install. */
  problem: string | null;
}

/**
 * Finds or makes a Python with the validator's packages.
 *
 * @returns null where there is no Python 3 at all.
 */
export function preparePython(checkout: string, tell: (line: string) => void): Python | null {
  const system = ["python3", "python"].find((command) => isPython3(command));
  if (system === undefined) return null;
  const folder = join(checkout, ".venv");
  const command = join(folder, isWindows ? "Scripts/python.exe" : "bin/python");
  const requirements = join(checkout, "tools", "suite", "requirements.txt");
  const stamp = join(folder, "suite-requirements.sha256");
  const wanted = createHash("sha256").update(readFileSync(requirements)).digest("hex");
  if (existsSync(command) && readStamp(stamp) === wanted) return { command, problem: null };

  tell("Preparing Python packages in .venv (once) …");
  const made = existsSync(command) || run(system, ["-m", "venv", folder]) === null;
  if (!made) return { command: system, problem: `${system} -m venv failed: install python3-venv` };
  const pip = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--requirement",
    requirements,
  ];
  const failure = run(command, pip);
  if (failure !== null) return { command, problem: `pip install failed: ${failure}` };
  writeFileSync(stamp, wanted);
  return { command, problem: null };
}

function isPython3(command: string): boolean {
  const { status, stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
  return status === 0 && stdout.startsWith("Python 3.");
}

function readStamp(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Null where the command succeeded, else the last line of what it said. */
function run(command: string, args: string[]): string | null {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (error !== undefined) return error.message;
  return status === 0 ? null : (stderr.trim().split("\n").at(-1) ?? "no message");
}
