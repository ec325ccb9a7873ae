/**
 * Every way of misbehaving that a receiver has once it speaks TLS, by name, and
 * what the delivery log must say of it. One port serves all: the path names the way.
 */
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import type { NetworkErrorCode } from "../../src/outbound/network-error.ts";
import type { TLSSocket } from "node:tls";
import { startRawReceiver, type RawReceiver, type ReceiverOptions } from "./tls-receiver.ts";

/** What an attempt ends with: a status that the receiver gave, or an error code. */
export type Ending = number | NetworkErrorCode;

export type Behaviour = {
  ending: Ending;
  /** Ends by the attempt's time limit alone. */
  isSlow?: true;
  misbehave(socket: Socket): void;
};

const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const HINTS = "HTTP/1.1 103 Early Hints\r\n\r\n";
// 64 MiB of zeros in about 64 KiB.
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024));

function answer(text: string): (socket: Socket) => void {
  return (socket) => void socket.write(text);
}

function hangUp(text: string): (socket: Socket) => void {
  return (socket) => void socket.end(text);
}

function redirect(status: number): Behaviour {
  const location = "Location: https://169.254.169.254/latest/meta-data/\r\n";
  return {
    ending: status,
    misbehave: answer(`HTTP/1.1 ${status} Elsewhere\r\n${location}Content-Length: 0\r\n\r\n`),
  };
}

/** Writes the chunk for as long as the other side takes it. */
export function flood(socket: Socket, start: string, chunk: string): void {
  socket.write(start);
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
}

/** Writes the chunk every few milliseconds until the other side hangs up. */
export function drip(socket: Socket, start: string, chunk: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(chunk), 5);
  socket.on("close", () => clearInterval(timer));
}

export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  "redirect-301": redirect(301),
  "redirect-302": redirect(302),
  "redirect-303": redirect(303),
  "redirect-307": redirect(307),
  "redirect-308": redirect(308),
  silent: { ending: "timeout", isSlow: true, misbehave: () => undefined },
  "slow-headers": {
    ending: "timeout",
    isSlow: true,
    misbehave: (socket) => drip(socket, `${OK}X-Slow: `, "a"),
  },
  "slow-body": {
    ending: "timeout",
    isSlow: true,
    misbehave: (socket) => drip(socket, `${OK}Content-Length: 60000\r\n\r\n`, "a"),
  },
  "interim-flood": { ending: "invalid_response", misbehave: (socket) => flood(socket, HINTS, HINTS) },
  "header-flood": {
    ending: "response_too_large",
    misbehave: (socket) => flood(socket, `${OK}X-Long: `, "h".repeat(4_096)),
  },
  "many-headers": {
    ending: "response_too_large",
    misbehave: (socket) => flood(socket, OK, "X-Many: 1\r\n".repeat(100)),
  },
  // Four gibibytes are announced, and sent for as long as they are taken.
  "body-flood": {
    ending: 200,
    misbehave: (socket) => flood(socket, `${OK}Content-Length: 4294967296\r\n\r\n`, "a".repeat(65_536)),
  },
  "chunk-flood": { ending: 200, misbehave: (socket) => flood(socket, CHUNKED, "1\r\nb\r\n".repeat(1_000)) },
  "chunk-extension": {
    ending: 200,
    misbehave: (socket) => flood(socket, `${CHUNKED}1;a=`, "e".repeat(16_384)),
  },
  bomb: {
    ending: 200,
    misbehave: (socket) => {
      socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`);
      socket.write(BOMB);
    },
  },
  "keep-alive-for-ever": {
    ending: 200,
    misbehave: answer(
      `${OK}Connection: keep-alive\r\nKeep-Alive: timeout=999999999\r\nContent-Length: 0\r\n\r\n`,
    ),
  },
  "other-protocol": { ending: "invalid_response", misbehave: answer("SSH-2.0-OpenSSH_9.6\r\n") },
  "two-lengths": {
    ending: "invalid_response",
    misbehave: answer(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
  },
  "length-and-chunks": {
    ending: "invalid_response",
    misbehave: answer(`${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`),
  },
  upgrade: {
    ending: "invalid_response",
    misbehave: answer("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
  },
  "close-at-once": { ending: "reset", misbehave: (socket) => void socket.destroy() },
  "close-in-headers": { ending: "reset", misbehave: hangUp(`${OK}X-A: `) },
  "close-in-body": { ending: "reset", misbehave: hangUp(`${OK}Content-Length: 9\r\n\r\nab`) },
  "close-in-chunks": { ending: "reset", misbehave: hangUp(`${CHUNKED}5\r\nab`) },
};

/** A receiver with every behaviour: `https://127.0.0.1:port/<name>`. `watch` sees each connection first. */
export function startHostileReceiver(
  options: Omit<ReceiverOptions, "respond"> = {},
  watch: (socket: TLSSocket) => void = () => undefined,
): Promise<RawReceiver> {
  return startRawReceiver((socket: TLSSocket) => {
    watch(socket);
    socket.on("data", (bytes: Buffer) => {
      const [, name = ""] = /^POST \/([a-z0-9-]+)/.exec(bytes.toString("latin1")) ?? [];
      BEHAVIOURS[name]?.misbehave(socket);
    });
  }, options);
}
