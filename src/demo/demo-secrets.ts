import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod";
import { secretFile } from "../database/embedded/embedded-files.ts";
import { hasCode } from "../shared/error-code.ts";
import { makeFolders, OPEN } from "../shared/make-folders.ts";

const secretsSchema = z.object({ INTEGRATION_ENCRYPTION_KEY: z.string(), SESSION_JWT_SECRET: z.string() });

/** In the data folder. */
export const SECRETS_FILE = "demo-secrets.json";

export type DemoSecrets = z.infer<typeof secretsSchema>;

/** The secrets of the last start, or new ones kept in a file that only its owner can read. */
export async function keptSecrets(file: string, make: () => DemoSecrets): Promise<DemoSecrets> {
  await makeFolders(dirname(file), OPEN);
  return parseSecrets(await secretFile(file, () => JSON.stringify(make(), null, 2)));
}

/** Null where no demonstration was started. */
export async function findSecrets(file: string): Promise<DemoSecrets | null> {
  try {
    return parseSecrets(await readFile(file, "utf8"));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

function parseSecrets(text: string): DemoSecrets {
  return secretsSchema.parse(JSON.parse(text));
}
