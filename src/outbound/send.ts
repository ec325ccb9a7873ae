/**
 * Sending one webhook: guard, connection, request, outcome.
 *
 * Each send judges the URL and the addresses of its name again, whether or not a
 * connection is open. Connections live on between sends as long as the guard
 * lets the name through, for a TLS handshake costs far more than a request.
 */
import type { AttemptLimits, AttemptOutcome } from "./attempt.ts";
import { makeAttempts } from "./attempts.ts";
import { makeDial } from "./connect.ts";
import type { ConnectionCounters } from "./connection.ts";
import type { Guard, Pin, UnsafeRule } from "./guard.ts";

export type SendRequest = {
  url: string;
  /** As `buildRequestHeaders` makes them. */
  headers: Record<string, string>;
  /** The exact text to send. */
  body: string;
  /** Default false: the outcome has the beginning of the answer's body, and not all that was read of it. */
  keepsWholeBody?: boolean;
  /** Awaited when the URL and its addresses have been found public, before anything is sent; if it rejects, nothing is. */
  onAllowed?: () => Promise<void>;
};

export type SendOutcome =
  /** A final answer of any status. `body` is its first 1,000 code points; `latencyMs` runs from `send` to its end. */
  | AttemptOutcome
  /** The URL or one of its addresses is not public: nothing was sent. */
  | { kind: "unsafe"; rule: UnsafeRule };

export type SenderStats = { openConnections: number; connectionsOpened: number; inFlight: number };

export type Sender = {
  /**
   * Rejects only on a fault of this program: a header that HTTP cannot carry, or
   * a send after `close`. Whatever a receiver does is an outcome.
   */
  send(request: SendRequest): Promise<SendOutcome>;
  stats(): SenderStats;
  /** Waits for the requests under way (an attempt's time limit at most), then closes every connection. */
  close(): Promise<void>;
};

export type SenderLimits = AttemptLimits & {
  /** TCP and TLS together. */
  connectTimeoutMs: number;
  keepAliveTimeoutMs: number;
  keepAliveMaxTimeoutMs: number;
  maxConnectionAgeMs: number;
  maxConnectionsPerOrigin: number;
  maxHeaderBytes: number;
};

export type SenderOptions = {
  guard: Guard;
  /** PEM certificates trusted beside Node's own roots. */
  extraCaPems?: readonly string[];
  limits?: Partial<SenderLimits>;
};

/** From `send` to the end of the answer. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

export const SENDER_LIMITS: SenderLimits = {
  attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  connectTimeoutMs: 5_000,
  keepAliveTimeoutMs: 4_000,
  // undici would keep a connection as long as the receiver's Keep-Alive header asks.
  keepAliveMaxTimeoutMs: 10_000,
  maxConnectionAgeMs: 120_000,
  // As many as a worker has in flight: a host that many endpoints share must not make one wait for another.
  maxConnectionsPerOrigin: 2048,
  maxHeaderBytes: 16 * 1_024,
  maxBodyBytes: 64 * 1_024,
  // 64 KiB in one-byte chunks is 384 KiB on the wire.
  maxAnswerBytes: 512 * 1_024,
  maxInformationalAnswers: 16,
};

/** The guard is the caller's: it may serve other purposes, and outlives the sender. */
export function makeSender(options: SenderOptions): Sender {
  const { guard } = options;
  const limits = { ...SENDER_LIMITS, ...options.limits };
  const counters: ConnectionCounters = { open: 0, opened: 0 };
  const attempts = makeAttempts({ ...limits, counters, dial: makeDial({ ...options, ...limits }) });
  let inFlight = 0;
  let closing = false;
  let onIdle: (() => void) | undefined;

  async function attemptSend(request: SendRequest): Promise<SendOutcome> {
    const startedAtMs = performance.now();
    const verdict = guard.parse(request.url);
    if (!verdict.ok) return { kind: "unsafe", rule: verdict.rule };
    const { url } = verdict;
    const pin = guard.pinCached(url) ?? (await guard.pin(url));
    if (pin.kind !== "pinned") return refusal(pin, startedAtMs);
    await request.onAllowed?.();
    const { headers, body, keepsWholeBody = false } = request;
    return attempts.run(
      { origin: url.origin, path: url.pathAndQuery, method: "POST", headers, body, keepsWholeBody },
      startedAtMs,
    );
  }

  return {
    async send(request) {
      if (closing) throw new Error("The sender is closed.");
      inFlight++;
      try {
        return await attemptSend(request);
      } finally {
        inFlight--;
        if (inFlight === 0) onIdle?.();
      }
    },
    stats: () => ({ openConnections: counters.open, connectionsOpened: counters.opened, inFlight }),
    async close() {
      closing = true;
      if (inFlight > 0) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
      await attempts.destroy();
    },
  };
}

function refusal(pin: Exclude<Pin, { kind: "pinned" }>, startedAtMs: number): SendOutcome {
  if (pin.kind === "unsafe") return { kind: "unsafe", rule: pin.rule };
  return { kind: "failed", error: "dns", latencyMs: Math.round(performance.now() - startedAtMs) };
}
