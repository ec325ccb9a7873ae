/**
 * The stream of the intake, as its users see it: only types, so that a process
 * without one loads nothing. The adapter is `nats-stream.ts`.
 *
 * Two kinds of messages are in it. Those of {@link ACCEPTED_SUBJECT} are
 * Postern's own: events that were checked and answered 202. Those below
 * {@link PRODUCER_SUBJECT} are what producers put there themselves.
 */
export const STREAM = "postern-intake";
export const CONSUMER = "postern-relay";
export const ACCEPTED_SUBJECT = "postern.accepted";
/** A tenant's id follows. */
export const PRODUCER_SUBJECT = "postern.events.";

/** How long a message that a worker took stays its own without a word from it. */
export const HOLD_MS = 15_000;

/** The stream does not take a message now, or it is unknown whether it did. */
export class StreamUnavailableError extends Error {
  override readonly name = "StreamUnavailableError";
}

/** The message is larger than the servers take. */
export class MessageTooLargeError extends Error {
  override readonly name = "MessageTooLargeError";
}

export type StreamMessage = {
  subject: string;
  /** Its place in the stream, never given to another. */
  sequence: number;
  /** When the stream took it, in milliseconds since 1970. */
  storedAtMs: number;
  /** How often it was handed out, this time included. */
  deliveries: number;
  /** Of its headers. */
  traceparent: string | undefined;
  bytes: Uint8Array;
  /** It leaves the stream: its events are accepted, or visibly refused. */
  end(): void;
  /** It is handed out again after so long. */
  putBack(afterMs: number): void;
  /** It stays this worker's for another {@link HOLD_MS}. */
  hold(): void;
};

export type StreamStatus = {
  replicas: number;
  /** Replicas that have everything, the leader included. */
  current: number;
  /** Null: none, so the stream takes nothing. */
  leader: string | null;
  messages: number;
  bytes: number;
  /** `silent`: it has no leader, or does not answer for another reason. */
  consumer: "there" | "missing" | "silent";
  /** Messages that workers hold, or that were returned with a delay; null if the consumer reports nothing. */
  taken: number | null;
  /** Requests of workers for messages, as far as the consumer says; a worker with messages at hand makes none. */
  waiting: number | null;
  /** When the oldest message was stored, in milliseconds since 1970; null where there is none. */
  oldestAtMs: number | null;
  /** The largest message that the servers and the stream take. */
  maxMessageBytes: number;
  /** Settings with which what the stream took may be dropped or not relayed; none in what Postern made. */
  unsafe: readonly string[];
  /** Why it takes no event although its servers run, as when it is full; null where it does. */
  takesNone: string | null;
};

export type IntakeStream = {
  /**
   * Returns when most of the stream's replicas have the message.
   *
   * @throws StreamUnavailableError, MessageTooLargeError
   */
  store(message: Uint8Array): Promise<void>;
  /** Up to so many messages as they come, and no more after some seconds, or the signal. */
  take(most: number, signal: AbortSignal): AsyncIterable<StreamMessage>;
  /** @throws StreamUnavailableError */
  status(): Promise<StreamStatus>;
  close(): Promise<void>;
};
