/** The operator's public keys, which verify session tokens. */
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from "jose";
import * as z from "zod";
import { seldom } from "../shared/seldom.ts";
import type { Log } from "../telemetry/log.ts";

const TIMEOUT_MS = 3000;
/** Each caller meets a key set that can't be read; the log needs one line of it. */
const TELL_EVERY_MS = 60_000;

/** What jose calls well-formed; the keys are judged as they are used. */
const keySet = z.object({ keys: z.array(z.looseObject({})) });

/**
 * How a key set is kept: a token with an unknown key makes it be fetched again,
 * but not sooner than `cooldownMs` after it was, nor than `pauseMs` after it
 * could not be.
 */
type KeySetTimes = { cooldownMs: number; maxAgeMs: number; pauseMs: number };
const TIMES: KeySetTimes = { cooldownMs: 30_000, maxAgeMs: 600_000, pauseMs: 2_000 };

export type KeySetOptions = Partial<KeySetTimes> & { log?: Log };

/** Verifies a token by a key of the set; throws what jose throws. */
export type KeySet = (token: string, options: JWTVerifyOptions) => Promise<{ payload: JWTPayload }>;

/** A set that can't be read, or whose keys can't be used, is logged, at most once a minute. */
export function makeKeySet(url: string, options: KeySetOptions): KeySet {
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
  return async (token, expected) => {
    try {
      return await verifyBy(keys, token, expected);
    } catch (error) {
      if (!isTokenFault(error)) tell(error);
      throw error;
    }
  };
}

async function verifyBy(
  keys: JWTVerifyGetKey,
  token: string,
  options: JWTVerifyOptions,
): Promise<{ payload: JWTPayload }> {
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return verifyByOneOf(error, token, options);
  }
}

/** A token need not name its key. While a key is being replaced, several keys of the set then fit. */
async function verifyByOneOf(
  keys: errors.JWKSMultipleMatchingKeys,
  token: string,
  options: JWTVerifyOptions,
): Promise<{ payload: JWTPayload }> {
  let failure: unknown = new errors.JWSSignatureVerificationFailed();
  for await (const key of keys) {
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      const isByAnother = error instanceof errors.JWSSignatureVerificationFailed;
      // Claims are judged behind the signature: no other key would do.
      if (isTokenFault(error) && !isByAnother) throw error;
      // A key that jose does not use, such as an RSA key below 2048 bits, need not be the token's.
      if (!isByAnother) failure = error;
    }
  }
  throw failure;
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

/** Throws for whatever is no key set; the message of its error names the status of any answer but 200. */
const fetchSet: FetchImplementation = async (url, options) => {
  const response = await fetch(url, options);
  if (response.status !== 200) throw new errors.JOSEError(`the key set was answered with ${response.status}`);
  // Judged before the pause is: a sign-in page in place of the keys is not fetched for each caller either.
  const set = keySet.safeParse(await response.json());
  if (!set.success) throw new errors.JWKSInvalid("JSON Web Key Set malformed");
  return Response.json(set.data);
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
