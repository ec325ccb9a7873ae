/** The files that a connection string names: pg reads them synchronously and throws Node's bare error. */
import { readFileSync } from "node:fs";
import { ConfigError } from "../shared/config-error.ts";
import { requireHosts } from "./hosts/host-list.ts";
import { messageOf } from "../shared/message-of.ts";

const PARAMETERS = ["sslrootcert", "sslcert", "sslkey"];
/** Editors of Windows put a mark before it, which OpenSSL passes over as it does lines before it. */
const BEGIN = /^\uFEFF?-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----\s*$/m;
/** As where two files were joined: OpenSSL takes neither then, and tells nobody. */
const JOINED = /-----END .*-----BEGIN /;

/** Throws ConfigError naming the first file that can't be read, or that names authorities and has no certificate. */
export function requireCertificateFiles(databaseUrl: string, whose = "the database's URL"): void {
  const [first] = requireHosts(databaseUrl);
  const url = URL.parse(first?.url ?? "");
  if (url === null) return;
  const { searchParams } = url;
  for (const parameter of PARAMETERS) {
    const file = searchParams.get(parameter);
    if (file === null || file === "") continue;
    const text = read(`${parameter} of ${whose}`, file);
    if (parameter === "sslrootcert" && (!BEGIN.test(text) || JOINED.test(text))) {
      throw new ConfigError(
        `${parameter} of ${whose} has no certificate, or one that does not begin a line: ${file}.\nMake it a file of certificates in PEM, each of whose BEGIN and END is a line.`,
      );
    }
  }
}

/** Not only asked for: a folder, which containers make of a file that is missing, can be "read" too. */
function read(parameter: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(
      `${parameter} can't be read: ${messageOf(error)}.\nCheck the path, that it is a file, and that this user may read it.`,
    );
  }
}
