/** How `INTAKE_URL` is read: the servers of one NATS cluster, with one way to log in. */

export type IntakePlace = {
  /** `host:port`, each. */
  servers: readonly string[];
  tls: boolean;
  login:
    | { kind: "none" }
    | { kind: "password"; user: string; pass: string }
    | { kind: "token"; token: string };
};

const FORM = /^(?<scheme>nats|tls):\/\/(?:(?<login>[^@/?#\s]+)@)?(?<hosts>[^@/?#\s]+)\/?$/;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::(?<port>[0-9]{1,5}))?$/;
const DEFAULT_PORT = 4222;
const MASK = "********";

/** Null for any other text. */
export function parseIntakeUrl(text: string): IntakePlace | null {
  const { scheme, login, hosts } = FORM.exec(text)?.groups ?? {};
  if (scheme === undefined || hosts === undefined) return null;
  const servers = hosts.split(",").map(withPort);
  const parsedLogin = parseLogin(login);
  if (parsedLogin === null || !servers.every((server) => server !== null)) return null;
  return { servers, tls: scheme === "tls", login: parsedLogin };
}

/** The URL with its password, or its token, masked; masked wholly where it can't be parsed. */
export function maskLogin(text: string): string {
  if (parseIntakeUrl(text) === null) return MASK;
  return text.replace(/^([a-z]+:\/\/)(?:([^:@/]*:)?[^@/]*@)/, `$1$2${MASK}@`);
}

function withPort(host: string): string | null {
  const match = HOST.exec(host);
  if (match === null) return null;
  const port = match.groups?.["port"];
  if (port === undefined) return `${host}:${DEFAULT_PORT}`;
  return Number(port) > 0 && Number(port) < 65_536 ? host : null;
}

function parseLogin(login: string | undefined): IntakePlace["login"] | null {
  if (login === undefined) return { kind: "none" };
  try {
    const [first = "", ...rest] = login.split(":");
    if (rest.length === 0) return { kind: "token", token: decodeURIComponent(first) };
    return { kind: "password", user: decodeURIComponent(first), pass: decodeURIComponent(rest.join(":")) };
  } catch {
    return null;
  }
}
