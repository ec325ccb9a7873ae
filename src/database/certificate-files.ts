/** The files that a connection string names: pg reads them synchronously and throws Node's bare error. */
import { accessSync, constants } from "node:fs";
import { ConfigError } from "../shared/config-error.ts";
import { requireHosts } from "./host-list.ts";
import { messageOf } from "../shared/message-of.ts";

const PARAMETERS = ["sslrootcert", "sslcert", "sslkey"];

/** Throws ConfigError naming the first file that can't be read. */
export function requireCertificateFiles(databaseUrl: string): void {
  const [first] = requireHosts(databaseUrl);
  const url = URL.parse(first?.url ?? "");
  if (url === null) return;
  const { searchParams } = url;
  for (const parameter of PARAMETERS) {
    const file = searchParams.get(parameter);
    if (file === null || file === "") continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (error) {
      throw new ConfigError(
        `${parameter} of DATABASE_URL can't be read: ${messageOf(error)}.\nCheck the path, and that this user may read the file.`,
      );
    }
  }
}
