/**
 * Dialling: from a host that the guard pinned to a TLS socket.
 *
 * The addresses come from the guard at the moment of dialling and are dialled as
 * IP literals, so nothing between the check and the connection can resolve the
 * name again. `autoSelectFamily` stays off for the same reason. Proxy variables
 * have no effect on `net.connect`.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import * as tls from "node:tls";
import type { Guard } from "./guard.ts";
import { canonicalIp } from "./ip-text.ts";

export type DialErrorCode = "dns" | "connect" | "tls" | "timeout" | "blocked_target";

/** Why no connection came about; `cause` is the error below it, if there is one. */
export class DialError extends Error {
  readonly reason: DialErrorCode;

  constructor(reason: DialErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "DialError";
    this.reason = reason;
  }
}

export type DialTarget = { host: string; port: number };

/** Resolves with a verified TLS socket; rejects with a DialError only. */
export type Dial = (target: DialTarget) => Promise<tls.TLSSocket>;

export type DialOptions = {
  guard: Pick<Guard, "pin">;
  /** PEM certificates trusted beside Node's own roots (which include NODE_EXTRA_CA_CERTS). */
  extraCaPems?: readonly string[];
  /** For TCP and TLS together. */
  connectTimeoutMs: number;
};

const MAX_ADDRESSES = 4;

/** Throws an Error when a PEM cannot be read. */
export function makeDial(options: DialOptions): Dial {
  const { guard } = options;
  const extra = options.extraCaPems ?? [];
  // One context for all: parsing the roots takes milliseconds.
  const secureContext = tls.createSecureContext({
    minVersion: "TLSv1.2",
    ...(extra.length > 0 ? { ca: [...tls.getCACertificates("default"), ...extra] } : {}),
  });

  return async (target) => {
    const pin = await guard.pin({ host: target.host, isIp: isIP(target.host) !== 0 });
    if (pin.kind === "unsafe") throw new DialError("blocked_target", `refused by rule ${pin.rule}`);
    if (pin.kind === "unresolved") throw new DialError("dns", pin.code);
    const deadlineMs = performance.now() + options.connectTimeoutMs;
    const raw = await dialFirst(interleave(pin.addresses).slice(0, MAX_ADDRESSES), target.port, deadlineMs);
    return secure(raw, target.host, secureContext, deadlineMs);
  };
}

/** IPv4 first, then alternating: a host without IPv6 loses nothing, and four tries cover both families. */
function interleave(addresses: readonly string[]): string[] {
  const ipv4 = addresses.filter((address) => isIP(address) === 4);
  const ipv6 = addresses.filter((address) => isIP(address) === 6);
  const longest = Math.max(ipv4.length, ipv6.length);
  return Array.from({ length: longest }, (_, index) => [ipv4[index], ipv6[index]])
    .flat()
    .filter((address) => address !== undefined);
}

async function dialFirst(addresses: readonly string[], port: number, deadlineMs: number): Promise<Socket> {
  let failure = new DialError("connect", "no address to dial");
  for (const [index, address] of addresses.entries()) {
    // A silent address may use only its share of the time, or the ones after it would never be tried.
    const shareMs = (deadlineMs - performance.now()) / (addresses.length - index);
    if (shareMs <= 0) break;
    const result = await dialOne(address, port, shareMs);
    if (!(result instanceof DialError)) return result;
    failure = result;
  }
  throw failure;
}

function dialOne(address: string, port: number, limitMs: number): Promise<Socket | DialError> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host: address, port, autoSelectFamily: false, noDelay: true });
    let handedOver = false;
    const timer = setTimeout(() => {
      fail(new DialError("timeout", `no answer from ${address}`));
    }, limitMs);
    function fail(failure: DialError): void {
      if (handedOver) return;
      clearTimeout(timer);
      socket.destroy();
      resolve(failure);
    }
    // Stays for good: a late error without a listener would end the process.
    socket.on("error", (error) => fail(new DialError("connect", error.message, error)));
    socket.once("connect", () => {
      const reached = socket.remoteAddress;
      if (reached === undefined || canonicalIp(reached) !== canonicalIp(address)) {
        fail(new DialError("blocked_target", `dialled ${address}, reached ${reached ?? "nothing"}`));
        return;
      }
      clearTimeout(timer);
      handedOver = true;
      resolve(socket);
    });
  });
}

function secure(
  raw: Socket,
  host: string,
  secureContext: tls.SecureContext,
  deadlineMs: number,
): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      socket: raw,
      // Names the peer for the certificate check; nothing is looked up, the socket is connected.
      host,
      // RFC 6066 section 3: no IP address in SNI.
      servername: isIP(host) === 0 ? host : "",
      secureContext,
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"],
    });
    const timer = setTimeout(
      () => fail(new DialError("timeout", "the TLS handshake took too long")),
      Math.max(0, deadlineMs - performance.now()),
    );
    function fail(failure: DialError): void {
      clearTimeout(timer);
      socket.destroy();
      raw.destroy();
      reject(failure);
    }
    // Stays until the connection's owner has a listener of its own, and then does no harm.
    const onError = (error: Error): void => fail(new DialError("tls", error.message, error));
    socket.on("error", onError);
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      // TLS 1.3 asks for a client's certificate within the handshake and refuses behind it, with an alert and an end.
      // Destroyed at the alert, since undici would report the end.
      socket.on("error", () => socket.destroy()).off("error", onError);
      resolve(socket);
    });
  });
}

/** Of NODE_EXTRA_CA_CERTS, as Node has read it at the start of this process. */
export function countExtraAuthorities(): number {
  return tls.getCACertificates("extra").length;
}
