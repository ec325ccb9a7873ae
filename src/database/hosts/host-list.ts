/**
 * The hosts of a connection string. `pg` reads strings of one host alone, so
 * `postgres://user:pw@a:5432,b:5433/postern` becomes one string for each host,
 * all with the same user, database and parameters.
 */
import { ConfigError } from "../../shared/config-error.ts";
import { tlsParameterFault } from "../tls-parameters.ts";
import { queryOf } from "../url-query.ts";

/** `name` is for people: host and port, without user or password. */
export type Host = { name: string; url: string };

export type HostList = { kind: "hosts"; hosts: readonly Host[] } | { kind: "fault"; fault: string };

const DEFAULT_PORT = "5432";
const AUTHORITY = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::([0-9]*))?$/;

/** Reads a list. A string of one host stays as it is, to the letter: whatever is wrong in it, `pg` says so. */
export function parseHostList(databaseUrl: string): HostList {
  const [, scheme = "", authority = "", rest = ""] = AUTHORITY.exec(databaseUrl) ?? [];
  // Like Node, take the last @: an unencoded one in a password is forgiven.
  const userEndsAt = authority.lastIndexOf("@") + 1;
  const texts = authority.slice(userEndsAt).split(",");
  // As a part of the database's name it would be shown with its password.
  if (/postgres(?:ql)?:\/\//.test(`${authority}${rest}`)) return fault(SEVERAL_URLS);
  if (texts.length === 1) return { kind: "hosts", hosts: [{ name: texts[0] ?? "", url: databaseUrl }] };
  const user = authority.slice(0, userEndsAt);
  const hosts: Host[] = [];
  for (const [index, text] of texts.entries()) {
    const name = parseHost(text);
    if (name === null) {
      return fault(
        `has no valid host at place ${index + 1} of its list: write host or host:port between commas, an IPv6 address in brackets`,
      );
    }
    if (hosts.some((other) => other.name === name)) return fault(`names the host ${name} twice`);
    const url = `${scheme}${user}${name}${rest}`;
    if (!URL.canParse(url)) return fault(UNREADABLE);
    hosts.push({ name, url });
  }
  return parameterFault(rest) ?? { kind: "hosts", hosts };
}

/** What `pg` would not refuse by itself: faults of the list, and what it would silently ignore. Completes the sentence "DATABASE_URL …". */
export function databaseUrlFault(databaseUrl: string): string | null {
  const list = parseHostList(databaseUrl);
  return list.kind === "fault" ? list.fault : tlsParameterFault(databaseUrl);
}

/** Throws ConfigError. */
export function requireHosts(databaseUrl: string): readonly Host[] {
  const list = parseHostList(databaseUrl);
  if (list.kind === "fault") throw new ConfigError(`DATABASE_URL ${list.fault}`);
  return list.hosts;
}

/** For a client of libpq, which otherwise takes the first host of a list that answers, a standby too. */
export function forLibpq(databaseUrl: string): string {
  if (requireHosts(databaseUrl).length === 1 || /[?&]target_session_attrs=/.test(databaseUrl))
    return databaseUrl;
  return `${databaseUrl}${databaseUrl.includes("?") ? "&" : "?"}target_session_attrs=read-write`;
}

const SEVERAL_URLS =
  "holds more than one URL: several hosts stand between commas within one, and the databases of SHARDS between |";
const UNREADABLE =
  "can't be read. Percent-encode reserved characters of the user and password: @ as %40, : as %3A, / as %2F, # as %23, ? as %3F, % as %25";

function parseHost(text: string): string | null {
  const [, host, given] = HOST.exec(text) ?? [];
  if (host === undefined) return null;
  const port = given === undefined || given === "" ? DEFAULT_PORT : given;
  const isPort = port.length <= 5 && Number(port) >= 1 && Number(port) <= 65_535;
  return isPort ? `${host.toLowerCase()}:${Number(port)}` : null;
}

/** Parameters that would mean another host, or another kind of host, than the list. */
function parameterFault(rest: string): HostList | null {
  const query = queryOf(rest);
  for (const name of ["host", "port", "hostaddr"]) {
    if (query.has(name))
      return fault(`lists hosts and has the parameter ${name}: name every host in the list`);
  }
  const wanted = query.get("target_session_attrs");
  if (wanted === null || ["read-write", "primary"].includes(wanted)) return null;
  return fault(
    "has target_session_attrs of another kind than read-write: Postern writes to every host it uses",
  );
}

function fault(text: string): HostList {
  return { kind: "fault", fault: text };
}
