/**
 * Sending one webhook: guard, connection, request, outcome.
 *
 * Each send judges the URL and the addresses of its name again, whether or not a
 * connection is open. Connections live on between sends as long as the guard
 * lets the name through, for TLS handshakes cost twenty times a request.
 *
 * An idle connection that the receiver closes just as a request is written looks
 * like a reset. When that request was not the first on its connection and not
 * one byte of an answer came, it is sent once more on a new connection, within
 * the same deadline. RFC 9110 section 9.2.2 allows this where a repeat is known
 * to be harmless: webhooks are delivered at least once, and the repeat carries
 * the same `webhook-id`. Without it, tests and retries by a person would fail now
 * and then against receivers that are well.
 */
import type { Client } from "undici";
import { Attempt, type AttemptLimits, type AttemptOutcome } from "./attempt.ts";
import { makeDial } from "./connect.ts";
import { makeAgent, makeClient, type ConnectionCounters, type ConnectionOptions } from "./connection.ts";
import type { Guard, Pin, UnsafeRule } from "./guard.ts";
import { makeOriginGate } from "./origin-gate.ts";
import type { WebhookUrl } from "./url-rules.ts";

export type { NetworkErrorCode } from "./network-error.ts";

export type SendRequest = {
  url: string;
  /** As `buildRequestHeaders` makes them. */
  headers: Record<string, string>;
  /** The exact text to send. */
  body: string;
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

const DEFAULT_LIMITS: SenderLimits = {
  attemptTimeoutMs: 15_000,
  connectTimeoutMs: 5_000,
  keepAliveTimeoutMs: 4_000,
  // A receiver may announce more; half of those who do close earlier.
  keepAliveMaxTimeoutMs: 10_000,
  maxConnectionAgeMs: 120_000,
  maxConnectionsPerOrigin: 128,
  maxHeaderBytes: 16 * 1_024,
  maxBodyBytes: 64 * 1_024,
  // 64 KiB in one-byte chunks is 384 KiB on the wire.
  maxAnswerBytes: 512 * 1_024,
  maxInformationalAnswers: 16,
};

type Waiting = { resolve: (outcome: SendOutcome) => void; reject: (error: Error) => void };

export function makeSender(options: SenderOptions): Sender {
  const { guard } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const counters: ConnectionCounters = { open: 0, opened: 0 };
  const connections: ConnectionOptions = { ...limits, counters, dial: makeDial({ ...options, ...limits }) };
  const agent = makeAgent(connections);
  const gate = makeOriginGate<Attempt>(limits.maxConnectionsPerOrigin, (attempt) => {
    agent.dispatch(attempt.options, attempt);
  });
  const waiting = new Map<Attempt, Waiting>();
  const secondTries = new Map<Attempt, Client>();
  let inFlight = 0;
  let closing = false;
  let onIdle: (() => void) | undefined;

  function finish(attempt: Attempt, report: (waiter: Waiting) => void): void {
    // undici frees the connection in an immediate that it sets after this callback. Were the outcome
    // reported before, the next request would find every connection busy and open one more.
    queueMicrotask(() => {
      setImmediate(() => {
        gate.leave(attempt.origin, attempt);
        void secondTries.get(attempt)?.destroy();
        secondTries.delete(attempt);
        const waiter = waiting.get(attempt);
        waiting.delete(attempt);
        if (waiter !== undefined) report(waiter);
      });
    });
  }

  const events = {
    settled: (attempt: Attempt, outcome: AttemptOutcome) =>
      finish(attempt, (waiter) => waiter.resolve(outcome)),
    crashed: (attempt: Attempt, error: Error) => finish(attempt, (waiter) => waiter.reject(error)),
    lostIdleConnection(attempt: Attempt): boolean {
      if (secondTries.has(attempt)) return false;
      const client = makeClient(attempt.origin, connections);
      secondTries.set(attempt, client);
      // Not from inside undici's callback for the connection that just ended.
      queueMicrotask(() => client.dispatch({ ...attempt.options, reset: true }, attempt));
      return true;
    },
  };

  function dispatch(request: SendRequest, url: WebhookUrl, startedAtMs: number): Promise<SendOutcome> {
    return new Promise((resolve, reject) => {
      const dispatchOptions = {
        origin: url.origin,
        path: url.pathAndQuery,
        method: "POST" as const,
        headers: request.headers,
        body: request.body,
      };
      const attempt = new Attempt(
        { origin: url.origin, options: dispatchOptions, startedAtMs },
        limits,
        events,
      );
      waiting.set(attempt, { resolve, reject });
      gate.enter(url.origin, attempt);
    });
  }

  async function attemptSend(request: SendRequest): Promise<SendOutcome> {
    const startedAtMs = performance.now();
    const verdict = guard.parse(request.url);
    if (!verdict.ok) return { kind: "unsafe", rule: verdict.rule };
    const pin = guard.pinCached(verdict.url) ?? (await guard.pin(verdict.url));
    return refusal(pin, startedAtMs) ?? dispatch(request, verdict.url, startedAtMs);
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
      await agent.destroy();
    },
  };
}

function refusal(pin: Pin, startedAtMs: number): SendOutcome | undefined {
  if (pin.kind === "unsafe") return { kind: "unsafe", rule: pin.rule };
  if (pin.kind === "pinned") return undefined;
  return { kind: "failed", error: "dns", latencyMs: Math.round(performance.now() - startedAtMs) };
}
