/** The intake's stream in NATS JetStream. It and `nats-connect.ts` alone name its packages; loaded only for an intake. */
import {
  AckPolicy,
  DiscardPolicy,
  jetstream,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type Consumer,
  type ConsumerInfo,
  type ConsumerMessages,
  type JetStreamManager,
  type JsMsg,
  type StreamInfo,
} from "@nats-io/jetstream";
import { setTimeout as delay } from "node:timers/promises";
import { errors, nanos, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import { messageOf } from "../shared/message-of.ts";
import type { Log } from "../telemetry/log.ts";
import type { IntakePlace } from "./intake-url.ts";
import { connectOrClose, watchLoss } from "./nats-connect.ts";
import {
  ACCEPTED_SUBJECT,
  CONSUMER,
  HOLD_MS,
  MessageTooLargeError,
  PRODUCER_SUBJECT,
  STREAM,
  StreamUnavailableError,
  type IntakeStream,
  type StreamMessage,
  type StreamStatus,
} from "./stream.ts";
import { unsafeConsumer, unsafeStream, whyNoneTaken } from "./stream-settings.ts";

const REQUEST_TIMEOUT_MS = 2000;
const TRY_AGAIN_MS = 250;
const TAKE_MS = 5000;
/** A take that lost its server ends so long after its time. */
const TAKE_GRACE_MS = 2000;
const AWAY = "the intake cannot be reached: trying again";
const API_CODES = { streamNotFound: 10059, consumerNotFound: 10014, messageTooLarge: 10054 };

type StreamOptions = {
  /** As the servers list the connection. */
  name: string;
  log: Log;
  /** Whether stream and consumer are made where there are none. */
  makes: boolean;
};

/** Connects in the background, for as long as it takes. */
export function openNatsStream(place: IntakePlace, options: StreamOptions): IntakeStream {
  return new NatsStream(place, options);
}

class NatsStream implements IntakeStream {
  readonly #place: IntakePlace;
  readonly #options: StreamOptions;
  readonly #log: Log;
  #connection: NatsConnection | null = null;
  #isClosed = false;
  #lastTrouble = "";
  /** Of the last try to connect. */
  #whyNotConnected = "not yet";
  /** Of the connection that there is. */
  #whyLost: () => string | null = () => null;
  #consumer: { connection: NatsConnection; it: Consumer } | null = null;
  readonly #running: Promise<void>;

  constructor(place: IntakePlace, options: StreamOptions) {
    this.#place = place;
    this.#options = options;
    this.#log = options.log;
    this.#running = this.#run();
  }

  async store(message: Uint8Array): Promise<void> {
    const connection = this.#connected();
    const most = connection.info?.max_payload ?? Infinity;
    if (message.length > most) throw new MessageTooLargeError(`the servers take ${most} bytes`);
    try {
      const options = { timeout: REQUEST_TIMEOUT_MS };
      const { stream } = await jetstream(connection).publish(ACCEPTED_SUBJECT, message, options);
      if (stream !== STREAM) throw new Error(`${ACCEPTED_SUBJECT} goes to the stream ${stream}`);
    } catch (error) {
      if (apiCodeOf(error) === API_CODES.messageTooLarge)
        throw new MessageTooLargeError(messageOf(error), { cause: error });
      const told = this.#explained(error);
      this.#tell(told, "the intake's stream took no event");
      throw new StreamUnavailableError(messageOf(told), { cause: error });
    }
    this.#lastTrouble = "";
  }

  async *take(most: number, signal: AbortSignal): AsyncIterable<StreamMessage> {
    const messages = await this.#fetch(this.#connected(), most);
    const stop = (): void => messages.stop();
    const late = setTimeout(stop, TAKE_MS + TAKE_GRACE_MS);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      for await (const message of messages) yield asStreamMessage(message);
    } catch (error) {
      this.#consumer = null;
      throw this.#explained(error);
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", stop);
      await closeQuietly(messages);
    }
  }

  async #fetch(connection: NatsConnection, most: number): Promise<ConsumerMessages> {
    try {
      const consumer = await this.#consumerOf(connection);
      return await consumer.fetch({ max_messages: most, expires: TAKE_MS });
    } catch (error) {
      throw this.#explained(error);
    }
  }

  async status(): Promise<StreamStatus> {
    try {
      const connection = this.#connected();
      const manager = await managerOf(connection);
      const info = await manager.streams.info(STREAM);
      // It has a leader of its own; without one the stream still takes events.
      const consumer = await manager.consumers
        .info(STREAM, CONSUMER)
        .catch((error: unknown) =>
          apiCodeOf(error) === API_CODES.consumerNotFound ? ("missing" as const) : ("silent" as const),
        );
      return toStatus(info, { consumer, connection });
    } catch (error) {
      throw new StreamUnavailableError(messageOf(this.#explained(error)), { cause: error });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
    await this.#running;
  }

  #connected(): NatsConnection {
    if (this.#connection === null || this.#connection.isClosed())
      throw new StreamUnavailableError(notConnected(this.#whyNotConnected));
    return this.#connection;
  }

  /** A request on a connection that is lost fails with `timeout`, whatever it is lost for. */
  #explained(error: unknown): unknown {
    const why = error instanceof StreamUnavailableError ? null : this.#whyLost();
    return why === null ? error : new Error(notConnected(why), { cause: error });
  }

  /** Connects, again whenever the connection is given up for good, until {@link close}. */
  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#connection = await connectOrClose(connectionOptions(this.#place, this.#options.name));
        this.#whyNotConnected = "the connection ended";
        if (this.#isClosed) return await this.#connection.close();
        this.#whyLost = watchLoss(this.#connection, (refusal) => this.#tell(refusal, AWAY));
        await this.#makeStream(this.#connection);
        await this.#connection.closed();
      } catch (error) {
        this.#whyNotConnected = messageOf(error);
        this.#tell(error, AWAY);
      }
      if (!this.#isClosed) await delay(TRY_AGAIN_MS);
    }
  }

  async #makeStream(connection: NatsConnection): Promise<void> {
    while (this.#options.makes && !connection.isClosed()) {
      try {
        await ensureStream(await managerOf(connection), replicasFor(this.#place));
        this.#lastTrouble = "";
        this.#log.info({ stream: STREAM, server: connection.getServer() }, "the intake is open");
        return;
      } catch (error) {
        this.#tell(this.#explained(error), "the intake's stream cannot be made: trying again");
        await delay(TRY_AGAIN_MS);
      }
    }
  }

  /** Asked for once in each connection, and made again where an operator removed it. */
  async #consumerOf(connection: NatsConnection): Promise<Consumer> {
    if (this.#consumer?.connection === connection) return this.#consumer.it;
    const get = () => jetstream(connection).consumers.get(STREAM, CONSUMER);
    const it = await get().catch(async (error: unknown) => {
      const code = apiCodeOf(error);
      if (code !== API_CODES.streamNotFound && code !== API_CODES.consumerNotFound) throw error;
      await ensureStream(await managerOf(connection), replicasFor(this.#place));
      return get();
    });
    this.#consumer = { connection, it };
    return it;
  }

  /** Each trouble once, until another comes. */
  #tell(error: unknown, text: string): void {
    const trouble = `${text} ${messageOf(error)}`;
    if (trouble !== this.#lastTrouble) this.#log.warn({ err: error }, text);
    this.#lastTrouble = trouble;
  }
}

function notConnected(why: string): string {
  return `no server of INTAKE_URL is connected: ${why}`;
}

function connectionOptions({ servers, tls, login }: IntakePlace, name: string): NodeConnectionOptions {
  return {
    servers: [...servers],
    name,
    // Clients that may read default inboxes must not read the messages that workers take.
    inboxPrefix: "_POSTERN_INBOX",
    ...(tls ? { tls: {} } : {}),
    ...(login.kind === "password" ? { user: login.user, pass: login.pass } : {}),
    ...(login.kind === "token" ? { token: login.token } : {}),
    timeout: REQUEST_TIMEOUT_MS,
    // Servers name each other by addresses that may be unreachable from here: use those of INTAKE_URL.
    ignoreClusterUpdates: true,
    maxReconnectAttempts: -1,
    // A password that is changed on both sides must not need a restart.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: TRY_AGAIN_MS,
    reconnectJitter: TRY_AGAIN_MS,
    // A server that is silent counts as gone after twice this.
    pingInterval: 2000,
    maxPingOut: 2,
  };
}

/** Three where there are as many servers; a single replica otherwise, since two survive no loss either. */
function replicasFor({ servers }: IntakePlace): number {
  return servers.length >= 3 ? 3 : 1;
}

function managerOf(connection: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(connection, { checkAPI: false, timeout: REQUEST_TIMEOUT_MS });
}

/** What an operator made under these names is left as it is. */
async function ensureStream(manager: JetStreamManager, replicas: number): Promise<void> {
  await manager.streams.info(STREAM).catch(async (error: unknown) => {
    if (apiCodeOf(error) !== API_CODES.streamNotFound) throw error;
    await manager.streams.add({
      name: STREAM,
      description: "Events that Postern has accepted, until a worker stores them in the database.",
      subjects: [ACCEPTED_SUBJECT, `${PRODUCER_SUBJECT}>`],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      // Full, it takes nothing more, rather than to drop what was accepted.
      discard: DiscardPolicy.New,
      num_replicas: replicas,
      // The least there is: NATS would drop an event whose message id another tenant used just before.
      duplicate_window: nanos(100),
    });
  });
  await manager.consumers.info(STREAM, CONSUMER).catch(async (error: unknown) => {
    if (apiCodeOf(error) !== API_CODES.consumerNotFound) throw error;
    await manager.consumers.add(STREAM, {
      durable_name: CONSUMER,
      description: "What workers take: each message belongs to one of them at a time.",
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(HOLD_MS),
      max_deliver: -1,
      // Messages that wait must not keep others from being handed out.
      max_ack_pending: -1,
    });
  });
}

function apiCodeOf(error: unknown): number {
  return error instanceof JetStreamApiError ? error.code : 0;
}

function asStreamMessage(message: JsMsg): StreamMessage {
  return {
    subject: message.subject,
    sequence: message.seq,
    storedAtMs: Number(message.timestampNanos / 1_000_000n),
    deliveries: message.info.deliveryCount,
    traceparent: traceparentOf(message),
    bytes: message.data,
    end: () => whileOpen(() => message.ack()),
    putBack: (afterMs) => whileOpen(() => message.nak(afterMs)),
    hold: () => whileOpen(() => message.working()),
  };
}

/** The headers are decoded here; broken ones fail, but the message may still be an event. */
function traceparentOf(message: JsMsg): string | undefined {
  try {
    return message.headers?.get("traceparent") || undefined;
  } catch {
    return undefined;
  }
}

/** On a connection that is closed the word gets lost, and the message is handed out again: that may happen anyway. */
function whileOpen(say: () => void): void {
  try {
    say();
  } catch (error) {
    if (!(error instanceof errors.ClosedConnectionError)) throw error;
  }
}

async function closeQuietly(messages: ConsumerMessages): Promise<void> {
  await messages.close().catch(() => undefined);
}

function toStatus(
  { config, cluster, state }: StreamInfo,
  { consumer, connection }: { consumer: ConsumerInfo | "missing" | "silent"; connection: NatsConnection },
): StreamStatus {
  // A server without a cluster leads its own stream.
  const leader = cluster === undefined ? (connection.info?.server_name ?? null) : (cluster.leader ?? null);
  const largest = connection.info?.max_payload ?? 0;
  const followers = (cluster?.replicas ?? []).filter(({ current, offline }) => current && !offline);
  return {
    replicas: config.num_replicas,
    current: leader === null ? 0 : 1 + followers.length,
    leader,
    messages: state.messages,
    bytes: state.bytes,
    consumer: typeof consumer === "string" ? consumer : "there",
    taken: typeof consumer === "string" ? null : consumer.num_ack_pending,
    oldestAtMs: state.messages === 0 ? null : Date.parse(state.first_ts),
    waiting: typeof consumer === "string" ? null : consumer.num_waiting,
    maxMessageBytes: Math.min(largest, config.max_msg_size > 0 ? config.max_msg_size : Infinity),
    unsafe: [
      ...unsafeStream(config),
      ...(typeof consumer === "string"
        ? []
        : unsafeConsumer(consumer.config, { isPaused: consumer.paused === true })),
    ],
    takesNone: whyNoneTaken(config, state),
  };
}
