import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod";
import { hasCode } from "../shared/error-code.ts";

const secretsSchema = z.object({ INTEGRATION_ENCRYPTION_KEY: z.string(), SESSION_JWT_SECRET: z.string() });

/** In the data folder. */
export const SECRETS_FILE = "demo-secrets.json";

export type DemoSecrets = z.infer<typeof secretsSchema>;

/** The secrets of the last start, or new ones kept in a file that only its owner can read. */
export async function keptSecrets(file: string, make: () => DemoSecrets): Promise<DemoSecrets> {
  await mkdir(dirname(file), { recursive: true });
  try {
    // Fails where the file exists, so that two first starts at once agree on one file.
    await writeFile(file, JSON.stringify(make(), null, 2), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  return readSecrets(file);
}

/** Null where no demonstration was started. */
export async function findSecrets(file: string): Promise<DemoSecrets | null> {
  try {
    return await readSecrets(file);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

async function readSecrets(file: string): Promise<DemoSecrets> {
  return secretsSchema.parse(JSON.parse(await readFile(file, "utf8")));
}
