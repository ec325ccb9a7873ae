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
import { makeGate } from "../shared/gate.ts";
import { Attempt, type AttemptLimits, type AttemptOutcome, type AttemptRequest } from "./attempt.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { makeConnections } from "./connections.ts";

export type Attempts = {
  /** `startedAtMs` by `performance.now()`. Rejects only on a fault of this program. */
  run(request: AttemptRequest, startedAtMs: number): Promise<AttemptOutcome>;
  /** Closes every connection; what is under way fails. */
  destroy(): Promise<void>;
};

export type AttemptsOptions = AttemptLimits & ConnectionOptions & { maxConnectionsPerOrigin: number };

type Waiting = { resolve: (outcome: AttemptOutcome) => void; reject: (error: Error) => void };

export function makeAttempts(options: AttemptsOptions): Attempts {
  const connections = makeConnections(options);
  const gate = makeGate<string, Attempt>(options.maxConnectionsPerOrigin, (attempt) =>
    sendOver(connections.take(attempt.request.origin), attempt),
  );
  const waiting = new Map<Attempt, Waiting>();
  const used = new Map<Attempt, Connection>();

  function sendOver(connection: Connection, attempt: Attempt): void {
    used.set(attempt, connection);
    connection.dispatch(attempt.request, attempt);
  }

  function giveBackConnection(attempt: Attempt): void {
    const connection = used.get(attempt);
    used.delete(attempt);
    if (connection !== undefined) connections.giveBack(connection);
  }

  function finish(attempt: Attempt, report: (waiter: Waiting) => void): void {
    // Not from inside undici's callback: only after it is the connection free, or closed.
    queueMicrotask(() => {
      giveBackConnection(attempt);
      gate.leave(attempt.request.origin, attempt);
      const waiter = waiting.get(attempt);
      waiting.delete(attempt);
      if (waiter !== undefined) report(waiter);
    });
  }

  const events = {
    settled: (attempt: Attempt, outcome: AttemptOutcome) =>
      finish(attempt, (waiter) => waiter.resolve(outcome)),
    crashed: (attempt: Attempt, error: Error) => finish(attempt, (waiter) => waiter.reject(error)),
    // Once for each attempt: no other request went over the new connection.
    lostIdleConnection: (attempt: Attempt) =>
      queueMicrotask(() => {
        giveBackConnection(attempt);
        sendOver(connections.open(attempt.request.origin), attempt);
      }),
  };

  return {
    run: (request, startedAtMs) =>
      new Promise((resolve, reject) => {
        const attempt = new Attempt(request, startedAtMs, options, events);
        waiting.set(attempt, { resolve, reject });
        gate.enter(request.origin, attempt);
      }),
    destroy: () => connections.destroy(),
  };
}
