/** A database in words that may be printed and logged. */
import { join, resolve } from "node:path";

const MASK = "********";

export type DatabasePlace = { databaseUrl: string | undefined; dataDir: string };

/** Which database the settings mean, without user or password: so that nobody runs on another one unawares. */
export function nameDatabase({ databaseUrl, dataDir }: DatabasePlace): string {
  if (databaseUrl === undefined) return `embedded, in ${join(resolve(dataDir), "postgres")}`;
  const url = URL.parse(databaseUrl);
  if (url === null) return "the one of DATABASE_URL";
  const host = url.searchParams.get("host") ?? url.host;
  const name = url.pathname.slice(1);
  return `${name === "" ? "the user's own" : name} on ${host === "" ? "this machine" : host}`;
}

/** The URL with its password masked; masked wholly where it can't be parsed. */
export function maskPassword(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url === null) return MASK;
  if (url.password !== "") url.password = MASK;
  if (url.searchParams.has("password")) url.searchParams.set("password", MASK);
  return url.href;
}
