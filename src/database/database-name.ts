/** A database in words that may be printed and logged. */
import { join, resolve } from "node:path";
import { parseHostList } from "./hosts/host-list.ts";

const MASK = "********";
/** Parameters of a URL: the user's, and that of the client's key. */
const PASSWORDS = ["password", "sslpassword"];

export type DatabasePlace = {
  databaseUrl: string | undefined;
  /** Several databases, in its place. */
  shards?: readonly { name: string; url: string }[] | undefined;
  dataDir: string;
};

/** Which database the settings mean, without user or password, so that a wrong one is noticed. */
export function nameDatabase({ databaseUrl, shards, dataDir }: DatabasePlace): string {
  if (shards !== undefined) {
    return shards
      .map(({ name, url }) => `${name}: ${nameDatabase({ databaseUrl: url, dataDir })}`)
      .join("; ");
  }
  if (databaseUrl === undefined) return `embedded, in ${join(resolve(dataDir), "postgres")}`;
  const { url, names } = readHosts(databaseUrl);
  if (url === null) return "the one of DATABASE_URL";
  const host = url.searchParams.get("host") ?? names?.join(", ") ?? url.host;
  const name = url.pathname.slice(1);
  return `${name === "" ? "the user's own" : name} on ${host === "" ? "this machine" : host}`;
}

/** The URL with its passwords masked; masked wholly where it can't be parsed. */
export function maskPassword(databaseUrl: string): string {
  const { url, names } = readHosts(databaseUrl);
  if (url === null) return MASK;
  if (url.password !== "") url.password = MASK;
  for (const name of PASSWORDS) if (url.searchParams.has(name)) url.searchParams.set(name, MASK);
  return names === null ? url.href : url.href.replace(url.host, () => names.join(","));
}

/** The URL with the first host alone, null where it can't be parsed; and the hosts' names where there are several. */
function readHosts(databaseUrl: string): { url: URL | null; names: string[] | null } {
  const list = parseHostList(databaseUrl);
  if (list.kind === "fault") return { url: null, names: null };
  const [first, ...others] = list.hosts;
  const names = others.length === 0 ? null : list.hosts.map(({ name }) => name);
  return { url: URL.parse(first?.url ?? ""), names };
}
