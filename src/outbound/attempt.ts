/**
 * One request from its dispatch to its outcome, as undici's handler.
 *
 * undici runs these callbacks inside its parser. An exception there would drop
 * the connection while the receiver saw a perfect request, so each callback is
 * fenced: a fault of ours rejects the attempt, loudly, and nothing else.
 *
 * Limits that undici does not have, measured against hostile receivers: one
 * deadline over everything; the number of 1xx answers; bytes read from the
 * socket for one answer, which chunk extensions spend without any callback.
 */
import type { Dispatcher } from "undici";
import { networkErrorCode, type NetworkErrorCode } from "./network-error.ts";
import { bodyText, KEPT_BODY_BYTES, recordedHeaders } from "./response.ts";

export type AttemptOutcome =
  | {
      kind: "answered";
      status: number;
      headers: Record<string, string>;
      body: string;
      latencyMs: number;
      /** All bytes read of the body, where the request asked for them. */
      wholeBody?: Buffer;
    }
  | { kind: "failed"; error: NetworkErrorCode; latencyMs: number };

export type AttemptRequest = {
  origin: string;
  path: string;
  method: "POST";
  headers: Record<string, string>;
  body: string;
  /** Whether all that is read of the answer's body is wanted, not its beginning alone. */
  keepsWholeBody: boolean;
};

export type AttemptLimits = {
  /** The whole attempt, from look-up to the last byte of the answer. */
  attemptTimeoutMs: number;
  /** Body bytes after which the connection is closed and the status counts. */
  maxBodyBytes: number;
  /** Decrypted bytes read for one answer, all framing counted. */
  maxAnswerBytes: number;
  maxInformationalAnswers: number;
};

export type AttemptEvents = {
  settled(attempt: Attempt, outcome: AttemptOutcome): void;
  /** A fault of this program, not of the receiver. */
  crashed(attempt: Attempt, error: Error): void;
  /** The receiver closed an idle connection just as it was used: the request is to be sent again. */
  lostIdleConnection(attempt: Attempt): void;
};

/** What an attempt knows of the connection it goes over. */
export type AttemptConnection = {
  /** Whether other requests went over it before. */
  readonly isReused: boolean;
  /** From here on the connection reports the bytes it reads to the attempt. */
  requestStarted(attempt: Attempt): void;
  requestEnded(attempt: Attempt): void;
};

// Shared, because it is never read: making an Error with its stack for each request cost a sixth of the CPU.
const ATTEMPT_ENDED = new Error("The attempt has ended.");

export class Attempt implements Dispatcher.DispatchHandler {
  /** Set by the connection that the request is given to. */
  connection: AttemptConnection | undefined;
  readonly request: AttemptRequest;
  #limits: AttemptLimits;
  #events: AttemptEvents;
  #startedAtMs: number;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #done = false;
  #answerBegun = false;
  #informational = 0;
  #status = 0;
  #headers: Parameters<typeof recordedHeaders>[0] = {};
  #chunks: Buffer[] = [];
  #bodyBytes = 0;

  constructor(request: AttemptRequest, startedAtMs: number, limits: AttemptLimits, events: AttemptEvents) {
    this.request = request;
    this.#startedAtMs = startedAtMs;
    this.#limits = limits;
    this.#events = events;
    const spentMs = performance.now() - startedAtMs;
    // Floored to whole milliseconds of one value in the common case, so that Node keeps one timer list.
    const leftMs = Math.max(0, limits.attemptTimeoutMs - Math.floor(spentMs));
    // What came while this process stood still is read first: timers run before sockets are.
    this.#timer = setTimeout(() => setImmediate(() => this.#fail("timeout")), leftMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#done) {
      // The deadline passed while this waited for a connection: nothing is sent after the outcome.
      controller.abort(ATTEMPT_ENDED);
      return;
    }
    this.#controller = controller;
    this.connection?.requestStarted(this);
  }

  onResponseStarted(): void {
    this.#answerBegun = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof recordedHeaders>[0],
  ): void {
    this.#fenced(() => {
      if (status < 200) {
        this.#informational++;
        if (this.#informational > this.#limits.maxInformationalAnswers) this.#fail("invalid_response");
        return;
      }
      this.#status = status;
      this.#headers = headers;
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#fenced(() => {
      const kept = this.request.keepsWholeBody ? this.#limits.maxBodyBytes : KEPT_BODY_BYTES;
      const room = kept - this.#bodyBytes;
      // A copy: the parser's buffer belongs to undici, and a slice would keep all of it alive.
      if (room > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, room)));
      this.#bodyBytes += chunk.length;
      if (this.#bodyBytes > this.#limits.maxBodyBytes) this.#answer();
    });
  }

  onResponseEnd(): void {
    this.#fenced(() => this.#answer());
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#done) return;
    this.#fenced(() => {
      const code = networkErrorCode(error, this.#status !== 0);
      if (code === undefined) {
        this.#crash(error);
        return;
      }
      const neverAnswered = !this.#answerBegun && this.connection?.isReused === true;
      if (code === "reset" && neverAnswered) this.#events.lostIdleConnection(this);
      else this.#fail(code);
    });
  }

  /** Called by the connection as bytes arrive for this request. */
  bytesRead(count: number): void {
    if (this.#done || count <= this.#limits.maxAnswerBytes) return;
    this.#fenced(() => {
      if (this.#status === 0) this.#fail("invalid_response");
      else this.#answer();
    });
  }

  #answer(): void {
    this.#settle({
      kind: "answered",
      status: this.#status,
      headers: recordedHeaders(this.#headers),
      body: bodyText(this.#chunks),
      latencyMs: this.#latencyMs(),
      ...(this.request.keepsWholeBody ? { wholeBody: Buffer.concat(this.#chunks) } : undefined),
    });
  }

  #fail(error: NetworkErrorCode): void {
    this.#settle({ kind: "failed", error, latencyMs: this.#latencyMs() });
  }

  #settle(outcome: AttemptOutcome): void {
    if (!this.#end()) return;
    this.#events.settled(this, outcome);
  }

  #crash(error: Error): void {
    if (!this.#end()) return;
    this.#events.crashed(this, error);
  }

  #end(): boolean {
    if (this.#done) return false;
    this.#done = true;
    clearTimeout(this.#timer);
    // Without effect on an answer that is complete; on any other it closes the connection.
    this.#controller?.abort(ATTEMPT_ENDED);
    this.connection?.requestEnded(this);
    return true;
  }

  #fenced(step: () => void): void {
    if (this.#done) return;
    try {
      step();
    } catch (error) {
      this.#crash(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #latencyMs(): number {
    return Math.round(performance.now() - this.#startedAtMs);
  }
}
