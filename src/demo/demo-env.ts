/** What a shell needs to call the demonstration: a file to be sourced, so that the printed lines stay short. */
import { chmod, writeFile } from "node:fs/promises";

/** In the data folder. */
export const ENV_FILE = "demo.env";

/** Written anew at each start. Only its owner can read it. */
export async function writeEnvFile(file: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${inShell(value)}`);
  await writeFile(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  // The mode above holds for a new file alone.
  await chmod(file, 0o600);
}

function inShell(value: string): string {
  return `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
