/**
 * Which connections are served when there are too many. A connection is idle
 * while no request is answered on it. When all are taken, a new one takes the
 * place of an idle one of the address that has most, addresses with a
 * bound first. When none is idle, a few more are accepted for the
 * operator's routes alone, so that `/health` answers. No address has more than
 * its bound, so one alone cannot take all.
 *
 * Trusted proxies and this machine itself have no bound of their own: many
 * callers come through them.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { inRanges } from "../outbound/address-rules.ts";
import { addressKey, callerAddress } from "./caller-address.ts";

type Socket = IncomingMessage["socket"];

export type ConnectionLimits = {
  /** At once, in a process. */
  maxConnections: number;
  /** Of one address; IPv6 by its /64. */
  maxConnectionsPerAddress: number;
  /** Beyond these, for the operator's routes alone. */
  reservedConnections: number;
};

const LOOPBACK = ["127.0.0.0/8", "::1"];

type Peer = {
  isBounded: boolean;
  count: number;
  /** The one that is idle for longest first. */ idle: Set<Socket>;
};
type Held = { peer: Peer; key: string; isReserved: boolean; underWay: number };

type Options = { trustedProxies: readonly string[]; closed: (why: "idle" | "refused") => void };

export class Connections {
  readonly #server: Server;
  readonly #limits: ConnectionLimits;
  readonly #closed: Options["closed"];
  readonly #isUnbounded: (address: string) => boolean;
  readonly #held = new Map<Socket, Held>();
  readonly #peers = new Map<string, Peer>();
  #reserved = 0;

  constructor(server: Server, limits: ConnectionLimits, { trustedProxies, closed }: Options) {
    this.#server = server;
    this.#limits = limits;
    this.#closed = closed;
    this.#isUnbounded = inRanges([...trustedProxies, ...LOOPBACK]);
    server.on("connection", (socket: Socket) => this.#take(socket));
  }

  /** Notes that a connection is not idle until its answer is sent; true where it serves the operator's routes alone. */
  startRequest({ socket }: IncomingMessage, response: ServerResponse): { isReserved: boolean } {
    const known = this.#held.get(socket);
    if (known === undefined) return { isReserved: false };
    known.underWay++;
    known.peer.idle.delete(socket);
    response.once("close", () => {
      known.underWay--;
      if (known.underWay > 0 || !this.#held.has(socket)) return;
      known.peer.idle.add(socket);
      // Node closes those that are idle as the server closes. One that becomes so later would hold up the stop.
      if (!this.#server.listening) socket.destroySoon();
    });
    return { isReserved: known.isReserved };
  }

  /** By Node's own function, which would cut off an answer that is made and not wholly read, too. */
  closeIdle(nodesOwn: () => void): void {
    const answering = [...this.#held].flatMap(([socket, { underWay }]) => (underWay > 0 ? [socket] : []));
    for (const socket of answering) socket.destroy = () => socket;
    nodesOwn();
    for (const socket of answering) Reflect.deleteProperty(socket, "destroy");
  }

  #take(socket: Socket): void {
    const address = callerAddress({ ip: "", socket });
    const key = addressKey(address);
    const room = this.#roomFor(this.#peerOf(key, address));
    if (room === "no") {
      this.#closed("refused");
      socket.destroy();
      return;
    }
    // Read again: closing an idle one may have ended the record that was read before.
    const peer = this.#peerOf(key, address);
    this.#peers.set(key, peer);
    peer.count++;
    peer.idle.add(socket);
    const isReserved = room === "reserved";
    if (isReserved) this.#reserved++;
    this.#held.set(socket, { peer, key, isReserved, underWay: 0 });
    socket.once("close", () => this.#release(socket));
  }

  #peerOf(key: string, address: string): Peer {
    return this.#peers.get(key) ?? { isBounded: !this.#isUnbounded(address), count: 0, idle: new Set() };
  }

  #roomFor(peer: Peer): "yes" | "reserved" | "no" {
    const isOverBound = peer.isBounded && peer.count >= this.#limits.maxConnectionsPerAddress;
    if (isOverBound && !this.#closeIdleOf(peer)) return "no";
    if (this.#isFull()) this.#closeIdleOf(largestIdle(this.#peers.values()));
    if (!this.#isFull()) return "yes";
    return this.#reserved < this.#limits.reservedConnections ? "reserved" : "no";
  }

  #isFull(): boolean {
    return this.#held.size - this.#reserved >= this.#limits.maxConnections;
  }

  /** Whether there was an idle connection to close. */
  #closeIdleOf(peer: Peer | null): boolean {
    const [socket] = peer?.idle ?? [];
    if (socket === undefined) return false;
    this.#release(socket);
    this.#closed("idle");
    socket.destroy();
    return true;
  }

  #release(socket: Socket): void {
    const known = this.#held.get(socket);
    if (known === undefined) return;
    this.#held.delete(socket);
    if (known.isReserved) this.#reserved--;
    known.peer.idle.delete(socket);
    known.peer.count--;
    if (known.peer.count === 0) this.#peers.delete(known.key);
  }
}

/** Among addresses with idle connections: bounded ones first, then the one with most. */
function largestIdle(peers: Iterable<Peer>): Peer | null {
  let largest: Peer | null = null;
  for (const peer of peers) {
    if (peer.idle.size === 0) continue;
    const isFirst = largest === null || (peer.isBounded && !largest.isBounded);
    const isLarger = largest !== null && peer.isBounded === largest.isBounded && peer.count > largest.count;
    if (isFirst || isLarger) largest = peer;
  }
  return largest;
}
