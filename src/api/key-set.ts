/** The operator's public keys, which verify session tokens. */
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type CryptoKey,
  type FetchImplementation,
  type JWTVerifyGetKey,
} from "jose";
import { seldom } from "../shared/seldom.ts";
import type { Log } from "../telemetry/log.ts";

const TIMEOUT_MS = 3000;
const MIN_RSA_BITS = 2048;
/** Each caller meets a key set that can't be read; the log needs one line of it. */
const TELL_EVERY_MS = 60_000;

/**
 * How a key set is kept: a token with an unknown key makes it be fetched again,
 * but not sooner than `cooldownMs` after it was, nor than `pauseMs` after it
 * could not be.
 */
type KeySetTimes = { cooldownMs: number; maxAgeMs: number; pauseMs: number };
const TIMES: KeySetTimes = { cooldownMs: 30_000, maxAgeMs: 600_000, pauseMs: 2_000 };

export type KeySetOptions = Partial<KeySetTimes> & { log?: Log };

/** A set that can't be read is logged, at most once a minute. */
export function makeKeySet(url: string, options: KeySetOptions): JWTVerifyGetKey {
  const { cooldownMs, maxAgeMs, pauseMs, log } = { ...TIMES, ...options };
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: cooldownMs,
    cacheMaxAge: maxAgeMs,
    [customFetch]: fetchWithPause(pauseMs),
  });
  const tell = seldom(TELL_EVERY_MS, (times, err: unknown) =>
    log?.warn({ err, times }, "SESSION_JWKS_URL can't be used: callers whose token needs it get 503"),
  );
  return async (header, token) => {
    try {
      return requireStrength(await keys(header, token), header.kid);
    } catch (error) {
      if (!isTokenFault(error)) tell(error);
      throw error;
    }
  };
}

/** With a short key jose verifies nothing, and says so to nobody but the caller. */
function requireStrength(key: CryptoKey, kid = "without a kid"): CryptoKey {
  const { algorithm } = key;
  const bits = "modulusLength" in algorithm ? Number(algorithm.modulusLength) : MIN_RSA_BITS;
  if (bits >= MIN_RSA_BITS) return key;
  throw new Error(`the key ${kid} has ${bits} bits, and must have ${MIN_RSA_BITS} or more`);
}

/** Reads a key set once, and answers how many keys it has. */
export async function countKeys(url: string): Promise<number> {
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: fetchSet,
  });
  await keys.reload();
  return keys.jwks()?.keys.length ?? 0;
}

/** Anything else that keeps a token from being verified means that the key set could not be read. */
export function isTokenFault(error: unknown): error is errors.JOSEError {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  // jose reports a key set's answer other than 200 and JSON by its general error class.
  return error instanceof errors.JOSEError && error.code !== "ERR_JOSE_GENERIC";
}

/** The message of its error names the status of any answer but 200. */
const fetchSet: FetchImplementation = async (url, options) => {
  const response = await fetch(url, options);
  if (response.status === 200) return response;
  throw new errors.JOSEError(`the key set was answered with ${response.status}`);
};

/** Fetches, but not while the last try failed a moment ago: callers by the thousand would keep a server from coming back. */
function fetchWithPause(pauseMs: number): FetchImplementation {
  let failed: { error: unknown; atMs: number } | null = null;
  return async (url, options) => {
    if (failed !== null && performance.now() - failed.atMs < pauseMs) throw failed.error;
    try {
      const response = await fetchSet(url, options);
      failed = null;
      return response;
    } catch (error) {
      failed = { error, atMs: performance.now() };
      throw error;
    }
  };
}
