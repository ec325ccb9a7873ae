/**
 * The session of this tab. A code in the URL's fragment is swapped for a token,
 * which is renewed until the session ends. The token is in memory, and in
 * sessionStorage for a reload: never in a cookie, so no other page can use it.
 */
import { apiBase } from "../api/base.ts";
import type { components } from "../api/schema.d.ts";
import { forgetDrafts } from "./drafts.ts";

/** Whose session it is and what it may do. */
export type Session = components["schemas"]["Session"];

/** Its times are of this computer's clock, which may be wrong. `session`: null for an operator's. */
export type Token = { token: string; expiresAt: number; endsAt: number; session: Session | null };

/** `unopened`: the code was not good. `ended`: the session is over. `left`: the person ended it. */
export type SessionState =
  | { kind: "absent" }
  | { kind: "opening" }
  | { kind: "open"; token: Token; claims: Claims }
  | { kind: "unopened" }
  | { kind: "unreachable"; code: string }
  | { kind: "ended" }
  | { kind: "left" };

/** What the token says of itself; the server alone verifies it. */
export type Claims = { isOperator: boolean; id: string; sub: string };

const KEY = "postern.session";
/** So long before its end a token is renewed. */
const RENEW_BEFORE_MS = 120_000;
const RETRY_MS = 10_000;
/** These say nothing about the session: too many calls, and the 404 of a proxy while the service behind it restarts. */
const PASSING = new Set([429, 404]);

let state: SessionState = { kind: "absent" };
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

export function sessionState(): SessionState {
  return state;
}

export function subscribeSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Takes the code out of the address, or the token of before a reload. */
export function startSession(): void {
  // Another link to the page that is open changes the fragment alone.
  window.addEventListener("hashchange", openByCode);
  if (openByCode()) return;
  const kept = readKept();
  if (kept === null) return change({ kind: "absent" });
  hold(kept);
}

function openByCode(): boolean {
  const code = takeCode();
  if (code !== null) void openSession(code);
  return code !== null;
}

export async function openSession(code: string): Promise<void> {
  change({ kind: "opening" });
  forget();
  const answer = await ask("POST", "", { code });
  if (answer.kind === "token") return hold(answer.token);
  if (answer.kind === "refused") return change({ kind: "unopened" });
  change({ kind: "unreachable", code });
}

/** At a 401: the session is over for the server. */
export function sessionRefused(token: string): void {
  if (state.kind !== "open" || state.token.token !== token) return;
  end();
}

export async function signOut(): Promise<void> {
  if (state.kind !== "open") return;
  const { token } = state.token;
  end("left");
  forgetDrafts();
  await fetch(`${apiBase}/api/portal/sessions`, { method: "DELETE", headers: bearer(token) }).catch(
    () => null,
  );
}

/** The token for a call; null without a session. */
export function currentToken(): string | null {
  return state.kind === "open" ? state.token.token : null;
}

function hold(token: Token): void {
  if (token.expiresAt <= Date.now()) return end();
  keep(token);
  change({ kind: "open", token, claims: claimsOf(token.token) });
  renewAt(token.expiresAt - RENEW_BEFORE_MS);
}

function renewAt(at: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void renew(), Math.max(0, at - Date.now()));
}

async function renew(): Promise<void> {
  if (state.kind !== "open") return;
  const { token } = state;
  // The last token lasts as long as the session does.
  if (token.expiresAt >= token.endsAt) return renewAtEnd(token);
  const answer = await ask("POST", "/renew", undefined, token.token);
  if (state.kind !== "open" || state.token !== token) return;
  if (answer.kind === "token") hold(answer.token);
  else if (answer.kind === "refused" || token.expiresAt <= Date.now()) end();
  else renewAt(Date.now() + RETRY_MS);
}

function renewAtEnd(token: Token): void {
  if (token.endsAt <= Date.now()) return end();
  renewAt(token.endsAt);
}

function end(kind: "ended" | "left" = "ended"): void {
  clearTimeout(timer);
  forget();
  change({ kind });
}

type Answer = { kind: "token"; token: Token } | { kind: "refused" } | { kind: "failed" };

async function ask(method: string, path: string, json?: unknown, token?: string): Promise<Answer> {
  try {
    const response = await fetch(`${apiBase}/api/portal/sessions${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : bearer(token)),
        ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const aheadMs = msAhead(response);
    if (response.ok) return { kind: "token", token: parseToken(await response.json(), aheadMs) };
    const isRefused = response.status < 500 && !PASSING.has(response.status);
    return { kind: isRefused ? "refused" : "failed" };
  } catch {
    return { kind: "failed" };
  }
}

/** By how much this computer's clock is ahead of the service's; negative where it is behind. */
function msAhead(response: Response): number {
  const answeredAt = Date.parse(response.headers.get("Date") ?? "");
  return Number.isNaN(answeredAt) ? 0 : Date.now() - answeredAt;
}

/** Throws where a process of before an upgrade answered, which says nothing of the session. */
function parseToken(answer: components["schemas"]["PortalToken"], aheadMs: number): Token {
  if (!isSession(answer.session)) throw new Error("the answer has no session");
  return {
    token: answer.token,
    expiresAt: Date.parse(answer.expires_at) + aheadMs,
    endsAt: Date.parse(answer.ends_at) + aheadMs,
    session: answer.session,
  };
}

function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

function claimsOf(token: string): Claims {
  try {
    const [, part = ""] = token.split(".");
    const claims: unknown = JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
    const { type, jti, sub } = Object(claims);
    return { isOperator: type === "service", id: String(jti), sub: typeof sub === "string" ? sub : "" };
  } catch {
    return { isOperator: false, id: "", sub: "" };
  }
}

function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return null;
  // Not in the history, nor where a person would copy it from.
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

function change(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

function keep(token: Token): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(token));
  } catch {
    // A frame may have no storage: then a reload ends the session.
  }
}

function forget(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}

/** One that a page of before an upgrade kept says nothing of it. */
function isSession(value: unknown): value is Session | null {
  return value === null || Array.isArray(Object(value).permissions);
}

function readKept(): Token | null {
  try {
    const kept: Record<string, unknown> = { ...JSON.parse(sessionStorage.getItem(KEY) ?? "null") };
    const { token, expiresAt, endsAt, session } = kept;
    if (typeof token !== "string" || typeof expiresAt !== "number" || typeof endsAt !== "number") return null;
    return isSession(session) ? { token, expiresAt, endsAt, session } : null;
  } catch {
    return null;
  }
}
