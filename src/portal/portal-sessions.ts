/** Sessions that Postern gives out at the word of the operator's backend: by a code, or at once. */
import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { recordDone } from "../audit/audit.ts";
import { OPERATOR, type Caller } from "../audit/audit-entry.ts";
import type { Db, Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { newPortalSessionId, type PortalSessionId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { isSameSecret } from "../shared/same-secret.ts";
import type { OwnTokens } from "./own-tokens.ts";
import {
  ALL_TENANTS,
  TOKEN_MINUTES,
  type NamedSession,
  type PortalGrant,
  type PortalSession,
} from "./portal-session.ts";
import { deleteSession, findSession, insertCode, insertSession, useCode } from "./portal-session-store.ts";

/** For so long a session that was ended elsewhere may still be believed. */
const BELIEVED_MS = 1000;
const BELIEVED_SESSIONS = 10_000;
const CODE_BYTES = 32;

/** Who asks for a session, as the audit log names him. */
export type Granting = Omit<Caller, "tenantId">;

/** A code that is never used up. Good from this machine alone, while the process runs. */
export type StandingCode = { code: string; grant: PortalGrant; minutes: number };

/** `endsAt` is the session's, `expiresAt` the token's. */
export type OwnToken = { token: string; expiresAt: Date; endsAt: Date };

export class PortalSessions {
  readonly #db: Pool;
  readonly #tokens: OwnTokens;
  readonly #standingCode: StandingCode | null;
  /** The state of a session by its id, for a moment. */
  readonly #alive = new LRUCache<PortalSessionId, { isAlive: boolean }>({
    max: BELIEVED_SESSIONS,
    ttl: BELIEVED_MS,
  });

  constructor(parts: { db: Pool; tokens: OwnTokens; standingCode: StandingCode | null }) {
    this.#db = parts.db;
    this.#tokens = parts.tokens;
    this.#standingCode = parts.standingCode;
  }

  /** A code that opens one session, and until when it does. */
  async grant(by: Granting, grant: PortalGrant, minutes: number): Promise<{ code: string; expiresAt: Date }> {
    const code = randomBytes(CODE_BYTES).toString("base64url");
    const expiresAt = await inTransaction(this.#db, async (transaction) => {
      await recordGranted(transaction, by, grant, { action: "portal.granted", minutes });
      const id = newPortalSessionId();
      return insertCode(transaction, { id, grant, codeHash: hashOf(code), minutes });
    });
    return { code, expiresAt };
  }

  /** Swaps a code for a token, once; the standing code as often as one likes. */
  async open(code: string, by: Omit<Granting, "actor">): Promise<OwnToken> {
    const standing = this.#standingCode;
    if (standing !== null && isSameSecret(code, standing.code) && isLoopback(by.address)) {
      const { grant, minutes } = standing;
      return this.#begin({ ...by, actor: OPERATOR }, { grant, minutes, action: "portal.granted" });
    }
    const askedAtMs = performance.now();
    const session = await useCode(this.#db, hashOf(code));
    if (session === null) throw new Refusal("unauthorized", { reason: "the code is not known or no good" });
    return this.#tokenOf(session, askedAtMs);
  }

  /** A token without a code, for as long as a token lasts. */
  async act(by: Granting, grant: PortalGrant): Promise<OwnToken> {
    return this.#begin(by, { grant, minutes: TOKEN_MINUTES, action: "tenant.token_granted" });
  }

  async #begin(
    by: Granting,
    { grant, minutes, action }: { grant: PortalGrant; minutes: number; action: GrantAction },
  ): Promise<OwnToken> {
    const id = newPortalSessionId();
    const askedAtMs = performance.now();
    const until = await inTransaction(this.#db, async (transaction) => {
      await recordGranted(transaction, by, grant, { action, minutes });
      return insertSession(transaction, { id, grant, minutes });
    });
    return this.#tokenOf({ id, grant, until }, askedAtMs);
  }

  async renew({ id }: NamedSession): Promise<OwnToken> {
    const askedAtMs = performance.now();
    const session = await findSession(this.#db, id);
    if (session === null) throw new Refusal("unauthorized", { reason: "the session has ended" });
    return this.#tokenOf(session, askedAtMs);
  }

  async end({ id }: NamedSession): Promise<void> {
    await deleteSession(this.#db, id);
    this.#alive.set(id, { isAlive: false });
  }

  async isAlive(id: PortalSessionId): Promise<boolean> {
    const known = this.#alive.get(id);
    if (known !== undefined) return known.isAlive;
    const askedAtMs = performance.now();
    const isAlive = (await findSession(this.#db, id)) !== null;
    return this.#believe(id, isAlive, askedAtMs);
  }

  /** From when it was asked: an answer that comes late is as old, and the note of an end may be gone by then. */
  #believe(id: PortalSessionId, isAlive: boolean, askedAtMs: number): boolean {
    // One that has ended meanwhile stays so.
    if (this.#alive.get(id)?.isAlive === false) return false;
    this.#alive.set(id, { isAlive }, { start: askedAtMs });
    return isAlive;
  }

  async #tokenOf(session: PortalSession, askedAtMs: number): Promise<OwnToken> {
    // Just read or written: who verifies the token next needs no look.
    this.#believe(session.id, true, askedAtMs);
    const endsAt = session.until;
    const expiresAt = new Date(Math.min(Date.now() + TOKEN_MINUTES * 60_000, endsAt.getTime()));
    return { token: await this.#tokens.sign(session, expiresAt), expiresAt, endsAt };
  }
}

type GrantAction = "portal.granted" | "tenant.token_granted";

function isLoopback(address: string | null): boolean {
  return address !== null && /^(?:127\.|::1$)/.test(address);
}

function hashOf(code: string): Buffer {
  return createHash("sha256").update(code).digest();
}

async function recordGranted(
  transaction: Db,
  granting: Granting,
  { tenantId, subject, role, isReadOnly }: PortalGrant,
  { action, minutes }: { action: GrantAction; minutes: number },
): Promise<void> {
  const by = { ...granting, tenantId: tenantId === ALL_TENANTS ? null : tenantId };
  const details = { sub: subject, role, read_only: isReadOnly, minutes };
  await recordDone(transaction, by, { action, endpointId: null, details });
}
