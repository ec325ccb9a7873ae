/** Requests of the API: who calls, with which token, and what is answered. */
import { issueToken, type TokenClaims } from "../../src/api/session-token.ts";
import type { Environment } from "../../src/config.ts";

const TOKEN_LIFE_MS = 3_600_000;

export type Claims = Omit<TokenClaims, "type" | "tid" | "sub"> & {
  type?: string;
  tid?: string;
  sub?: string;
};

export const OWNER: Claims = { type: "user", tid: "acme", sub: "ada", role: "owner" };
export const OTHER_OWNER: Claims = { type: "user", tid: "globex", sub: "gil", role: "owner" };
export const MEMBER: Claims = { type: "user", tid: "acme", sub: "max", role: "member" };
export const PRODUCER: Claims = { type: "service", tid: "acme", sub: "app", permissions: ["events:write"] };

export type ApiAnswer = { status: number; headers: Headers; text: string; body: unknown };

export type CallOptions = {
  /** The session's claims; default the owner of `acme`, null sends no token. */
  as?: Claims | null;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
};

/** One request of the API; the answer's body is parsed where it is JSON. */
export async function request(
  url: string,
  method: string,
  { token, json, raw, headers = {} }: Omit<CallOptions, "as"> & { token: string | null },
): Promise<ApiAnswer> {
  const body = json === undefined ? raw : JSON.stringify(json);
  const response = await fetch(url, {
    method,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? null : parsed(text),
  };
}

/** A token as the operator's backend would issue it for a service started with this environment. */
export function issueTestToken(env: Environment, claims: Claims): Promise<string> {
  return issueToken(
    {
      secret: env["SESSION_JWT_SECRET"] ?? "",
      issuer: env["SESSION_ISSUER"],
      audience: env["SESSION_AUDIENCE"],
    },
    { type: "", tid: "", sub: "", ...claims },
    TOKEN_LIFE_MS,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
