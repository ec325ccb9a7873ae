/**
 * Requests under way: each gets a connection, or its turn, and reports once.
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
import { makeGate } from "../shared/gate.ts";
import { Attempt, type AttemptLimits, type AttemptOutcome, type AttemptRequest } from "./attempt.ts";
import { makeAgent, makeClient, type ConnectionOptions } from "./connection.ts";

export type Attempts = {
  /** `startedAtMs` by `performance.now()`. Rejects only on a fault of this program. */
  run(request: AttemptRequest, startedAtMs: number): Promise<AttemptOutcome>;
  /** Closes every connection; what is under way fails. */
  destroy(): Promise<void>;
};

export type AttemptsOptions = AttemptLimits & ConnectionOptions & { maxConnectionsPerOrigin: number };

type Waiting = { resolve: (outcome: AttemptOutcome) => void; reject: (error: Error) => void };

export function makeAttempts(options: AttemptsOptions): Attempts {
  const agent = makeAgent(options);
  // undici's pool has a queue of its own, but a request whose time ran out cannot
  // be taken out of that one, and would open a connection for nothing.
  const gate = makeGate<string, Attempt>(options.maxConnectionsPerOrigin, (attempt) => {
    agent.dispatch(attempt.request, attempt);
  });
  const waiting = new Map<Attempt, Waiting>();
  const secondTries = new Map<Attempt, Client>();

  function finish(attempt: Attempt, report: (waiter: Waiting) => void): void {
    afterConnectionIsFree(() => {
      gate.leave(attempt.request.origin, attempt);
      void secondTries.get(attempt)?.destroy();
      secondTries.delete(attempt);
      const waiter = waiting.get(attempt);
      waiting.delete(attempt);
      if (waiter !== undefined) report(waiter);
    });
  }

  const events = {
    settled: (attempt: Attempt, outcome: AttemptOutcome) =>
      finish(attempt, (waiter) => waiter.resolve(outcome)),
    crashed: (attempt: Attempt, error: Error) => finish(attempt, (waiter) => waiter.reject(error)),
    lostIdleConnection(attempt: Attempt): boolean {
      if (secondTries.has(attempt)) return false;
      const client = makeClient(attempt.request.origin, options);
      secondTries.set(attempt, client);
      // Not from inside undici's callback for the connection that just ended.
      queueMicrotask(() => client.dispatch({ ...attempt.request, reset: true }, attempt));
      return true;
    },
  };

  return {
    run: (request, startedAtMs) =>
      new Promise((resolve, reject) => {
        const attempt = new Attempt(request, startedAtMs, options, events);
        waiting.set(attempt, { resolve, reject });
        gate.enter(request.origin, attempt);
      }),
    async destroy() {
      await agent.destroy();
    },
  };
}

/**
 * undici frees a connection in an immediate that it sets after the callback for
 * the end of an answer. Were the outcome reported before that, the next request
 * would find every connection busy and open one more.
 */
function afterConnectionIsFree(step: () => void): void {
  queueMicrotask(() => setImmediate(step));
}
