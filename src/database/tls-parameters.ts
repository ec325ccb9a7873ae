/**
 * Parameters about TLS in a connection string. `pg` ignores a name that it
 * doesn't know, so `?ssl_mode=verify-full` would connect in plain text.
 */
import { nearName } from "../shared/near-name.ts";
import { queryOf } from "./url-query.ts";

/** Those of `pg`, and those of libpq: `psql` and `pg_dump` are given the same string. */
const KNOWN = [
  "channel_binding",
  "require_auth",
  "ssl",
  "ssl_max_protocol_version",
  "ssl_min_protocol_version",
  "sslcert",
  "sslcertmode",
  "sslcompression",
  "sslcrl",
  "sslcrldir",
  "sslkey",
  "sslmode",
  "sslnegotiation",
  "sslpassword",
  "sslrootcert",
  "sslsni",
  "uselibpqcompat",
];
const MODES = ["disable", "no-verify", "prefer", "require", "verify-ca", "verify-full"];

/** What completes the sentence "DATABASE_URL …", or null. Never a value: a password may be read as one. */
export function tlsParameterFault(databaseUrl: string): string | null {
  const query = queryOf(databaseUrl);
  for (const name of query.keys()) {
    const meant = nearName(name, KNOWN);
    if (meant !== null) return `has a misspelled parameter: did you mean ${meant}?`;
  }
  const modes = query.getAll("sslmode");
  if (modes.every((mode) => MODES.includes(mode))) return null;
  return `has a wrong sslmode: it is one of ${MODES.join(", ")}`;
}
