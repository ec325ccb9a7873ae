/** Tokens that lie about their algorithm, and key sets that change, vanish or come back. With a real key server. */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { generateKeyPairSync, sign as rsaSign } from "node:crypto";
import { createServer, type Server } from "node:http";
import { before, describe, it, type TestContext } from "node:test";
import {
  exportJWK,
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  importPKCS8,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTHeaderParameters,
} from "jose";
import { pino } from "pino";
import { listen } from "../../test/support/tls-receiver.ts";
import { Refusal } from "../shared/refusal.ts";
import type { KeySetOptions } from "./key-set.ts";
import { makeSessionVerifier, type SessionVerifier } from "./session.ts";

const SECRET = "a secret that is shared and has 32 bytes or more";
const ISSUER = "https://login.example.com/";
const AUDIENCE = "postern";
const CLAIMS = { type: "user", tid: "acme", sub: "ada", role: "owner", iss: ISSUER, aud: AUDIENCE };

type Key = { privateKey: CryptoKey; publicKey: CryptoKey; jwk: JWK };

async function makeKey(alg: string, kid: string): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

let count = 0;
/** A new token each time: the verifier remembers known ones. */
function sign(header: JWTHeaderParameters, key: CryptoKey | Uint8Array): Promise<string> {
  const token = new SignJWT({ ...CLAIMS, jti: String(count++), exp: Math.floor(Date.now() / 1000) + 60 });
  return token.setProtectedHeader(header).sign(key);
}

/** A key that jose does not use, and a token that it signed. */
function makeShortKey(kid: string | undefined): { short: JWK; token: string } {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const named = kid === undefined ? {} : { kid };
  const claims = { ...CLAIMS, exp: Math.floor(Date.now() / 1000) + 60 };
  const text = [{ alg: "RS256", ...named }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = rsaSign("sha256", bytes(text), privateKey).toString("base64url");
  return {
    short: { ...publicKey.export({ format: "jwk" }), ...named, alg: "RS256" },
    token: `${text}.${signature}`,
  };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** `ok`, or the code of the refusal. */
async function judge(verifier: SessionVerifier, token: string): Promise<string> {
  try {
    await verifier.verify(`Bearer ${token}`);
    return "ok";
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

type KeyServer = {
  url: string;
  keys: JWK[];
  isUp: boolean;
  fetches: number;
  /** In place of the keys. */
  answer?: { status: number; body: string };
};

async function keyServerFor(test: TestContext, keys: JWK[]): Promise<KeyServer> {
  const state: KeyServer = { url: "", keys, isUp: true, fetches: 0 };
  const server: Server = createServer((_request, response) => {
    state.fetches++;
    if (state.answer !== undefined) response.writeHead(state.answer.status).end(state.answer.body);
    else if (state.isUp) response.end(JSON.stringify({ keys: state.keys }));
    else response.destroy();
  });
  state.url = `http://127.0.0.1:${await listen(server)}/keys`;
  test.after(() => server.close());
  return state;
}

const withKeys = (server: KeyServer, options?: KeySetOptions) =>
  makeSessionVerifier({ kind: "jwks", url: server.url, issuer: ISSUER, audience: AUDIENCE }, null, {
    cooldownMs: 0,
    maxAgeMs: 600_000,
    pauseMs: 0,
    ...options,
  });

function signedWith(claims: { iss?: string; aud?: string }): Promise<string> {
  return new SignJWT({ type: "user", tid: "acme", exp: Math.floor(Date.now() / 1000) + 60, ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .sign(bytes(SECRET));
}

describe("a token signed with a shared secret", () => {
  const expected = { issuer: ISSUER, audience: AUDIENCE };

  for (const [setting, claim, value] of [
    ["issuer", "iss", ISSUER],
    ["audience", "aud", AUDIENCE],
  ] as const) {
    it(`needs the ${setting} where that alone is set, and else none`, async () => {
      const strict = makeSessionVerifier({ kind: "secret", secret: SECRET, [setting]: expected[setting] });
      const open = makeSessionVerifier({ kind: "secret", secret: SECRET });
      for (const [given, judgement] of [
        [value, "ok"],
        [`${value}2`, "unauthorized"],
        [undefined, "unauthorized"],
      ] as const) {
        const token = await signedWith(given === undefined ? {} : { [claim]: given });
        equal(await judge(strict, token), judgement);
        equal(await judge(open, token), "ok");
      }
    });
  }
});

describe("a token whose algorithm is another than its key's", () => {
  let rsa: Key;
  let ec: Key;
  before(async () => {
    [rsa, ec] = [await makeKey("RS256", "rsa"), await makeKey("ES256", "ec")];
  });

  it("is refused where keys are public: HS256 by any spelling of a public key", async (test) => {
    const verifier = withKeys(await keyServerFor(test, [rsa.jwk, ec.jwk]));
    equal(await judge(verifier, await sign({ alg: "RS256", kid: "rsa" }, rsa.privateKey)), "ok");
    const spki = await exportSPKI(rsa.publicKey);
    const spellings = [spki, spki.trim(), spki.replaceAll(/-----.*-----|\n/g, ""), JSON.stringify(rsa.jwk)];
    for (const spelling of [...spellings, rsa.jwk.n ?? ""]) {
      for (const alg of ["HS256", "HS384", "HS512"]) {
        equal(
          await judge(verifier, await sign({ alg, kid: "rsa" }, bytes(spelling))),
          "unauthorized",
          spelling,
        );
      }
    }
    equal(await judge(verifier, await sign({ alg: "HS256" }, bytes(SECRET))), "unauthorized");
  });

  it("is refused where the key is of another kind, or another hash or padding is named", async (test) => {
    const verifier = withKeys(await keyServerFor(test, [rsa.jwk, ec.jwk]));
    equal(await judge(verifier, await sign({ alg: "RS256", kid: "ec" }, rsa.privateKey)), "unauthorized");
    equal(await judge(verifier, await sign({ alg: "ES256", kid: "rsa" }, ec.privateKey)), "unauthorized");
    for (const alg of ["RS384", "RS512", "PS256"]) {
      const sameKey = await importPKCS8(await exportPKCS8(rsa.privateKey), alg);
      equal(await judge(verifier, await sign({ alg, kid: "rsa" }, sameKey)), "unauthorized", alg);
    }
  });

  it("is refused where the key is a shared secret: RS256, ES256 and EdDSA", async () => {
    const verifier = makeSessionVerifier({ kind: "secret", secret: SECRET });
    equal(await judge(verifier, await sign({ alg: "HS256" }, bytes(SECRET))), "ok");
    for (const alg of ["RS256", "ES256", "EdDSA"]) {
      const { privateKey } = await generateKeyPair(alg);
      equal(await judge(verifier, await sign({ alg }, privateKey)), "unauthorized", alg);
    }
    equal(
      await judge(verifier, await sign({ alg: "HS256" }, bytes(await exportPKCS8(rsa.privateKey)))),
      "unauthorized",
    );
  });

  it("is refused where it is none, in any case of letters, with and without a signature", async (test) => {
    const verifiers = [
      makeSessionVerifier({ kind: "secret", secret: SECRET }),
      withKeys(await keyServerFor(test, [rsa.jwk])),
    ];
    const [, payload = "", signature = ""] = (await sign({ alg: "HS256" }, bytes(SECRET))).split(".");
    for (const alg of ["none", "None", "NONE", "nOnE", "", null, 0]) {
      const header = Buffer.from(JSON.stringify({ alg, kid: "rsa" })).toString("base64url");
      for (const verifier of verifiers) {
        equal(await judge(verifier, `${header}.${payload}.`), "unauthorized");
        equal(await judge(verifier, `${header}.${payload}.${signature}`), "unauthorized");
      }
    }
  });

  it("is refused where it brings its own key, or names where to find one", async (test) => {
    const own = await keyServerFor(test, [rsa.jwk]);
    const evil = await makeKey("RS256", "rsa");
    const theirs = await keyServerFor(test, [evil.jwk]);
    const verifier = withKeys(own);
    for (const header of [{ jwk: evil.jwk }, { jku: theirs.url }, { x5u: theirs.url }, { x5c: ["AAAA"] }]) {
      const token = await sign({ alg: "RS256", kid: "rsa", ...header }, evil.privateKey);
      equal(await judge(verifier, token), "unauthorized", JSON.stringify(header));
    }
    equal(theirs.fetches, 0);
  });

  it("is refused unread where it is longer than 8 KiB", async () => {
    const verifier = makeSessionVerifier({ kind: "secret", secret: SECRET });
    const long = new SignJWT({
      ...CLAIMS,
      exp: Math.floor(Date.now() / 1000) + 60,
      padding: "x".repeat(8_192),
    });
    equal(
      await judge(verifier, await long.setProtectedHeader({ alg: "HS256" }).sign(bytes(SECRET))),
      "unauthorized",
    );
  });
});

describe("a token that is remembered", () => {
  it("is refused once it has expired, a difference of 5 seconds between clocks allowed", async (test) => {
    const issuedAtMs = 1_900_000_000_000;
    // Remembered tokens expire by another clock, which keeps running.
    test.mock.timers.enable({ apis: ["Date"], now: issuedAtMs });
    const verifier = makeSessionVerifier({ kind: "secret", secret: SECRET });
    const token = await sign({ alg: "HS256" }, bytes(SECRET));
    equal(await judge(verifier, token), "ok");
    for (const [ageS, expected] of [
      [60, "ok"],
      [64.999, "ok"],
      [65, "unauthorized"],
      [600, "unauthorized"],
    ] as const) {
      test.mock.timers.setTime(issuedAtMs + ageS * 1000);
      equal(await judge(verifier, token), expected, `${ageS} s after its issue`);
    }
  });
});

describe("a key set", () => {
  let old: Key;
  let fresh: Key;
  before(async () => {
    [old, fresh] = [await makeKey("ES256", "old"), await makeKey("ES256", "fresh")];
  });
  const byOld = () => sign({ alg: "ES256", kid: "old" }, old.privateKey);
  const byFresh = () => sign({ alg: "ES256", kid: "fresh" }, fresh.privateKey);

  it("is fetched again for a key that it lacks, and a key that left it is refused", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    const verifier = withKeys(server);
    equal(await judge(verifier, await byOld()), "ok");
    equal(await judge(verifier, await byFresh()), "unauthorized");
    server.keys = [fresh.jwk];
    equal(await judge(verifier, await byFresh()), "ok");
    equal(await judge(verifier, await byOld()), "unauthorized");
  });

  it("verifies tokens that name no key by each that fits, as while one is being replaced", async (test) => {
    const keys = [{ ...old.jwk }, { ...fresh.jwk }];
    for (const key of keys) delete key.kid;
    const server = await keyServerFor(test, keys);
    const verifier = withKeys(server);
    const stranger = await makeKey("ES256", "stranger");
    for (const [{ privateKey }, judgement] of [
      [old, "ok"],
      [fresh, "ok"],
      [stranger, "unauthorized"],
    ] as const)
      equal(await judge(verifier, await sign({ alg: "ES256" }, privateKey)), judgement);
  });

  it("is not fetched for each token with an unknown key", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    const verifier = withKeys(server, { cooldownMs: 600_000 });
    const tokens = await Promise.all(Array.from({ length: 50 }, byFresh));
    const judged = await Promise.all(tokens.map((token) => judge(verifier, token)));
    deepEqual([new Set(judged), server.fetches], [new Set(["unauthorized"]), 1]);
    await rejects(verifier.verify(`Bearer ${await byFresh()}`), { reason: /^the key set has no key that/ });
  });

  it("that is out of reach is not asked for by each token, and found again soon", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    const verifier = withKeys(server, { pauseMs: 600_000 });
    server.isUp = false;
    for (let again = 0; again < 20; again++) equal(await judge(verifier, await byOld()), "unavailable");
    equal(server.fetches, 1);
    const soon = withKeys(server, { pauseMs: 0 });
    equal(await judge(soon, await byOld()), "unavailable");
    server.isUp = true;
    equal(await judge(soon, await byOld()), "ok");
  });

  it("that is out of reach is no fault of the token: known keys go on, others get unavailable", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    const verifier = withKeys(server);
    server.isUp = false;
    equal(await judge(verifier, await byOld()), "unavailable");
    server.isUp = true;
    equal(await judge(verifier, await byOld()), "ok");
    server.isUp = false;
    equal(await judge(verifier, await byOld()), "ok");
    equal(await judge(verifier, await byFresh()), "unavailable");
  });

  it("that stays out of reach is believed for its time only", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    const verifier = withKeys(server, { maxAgeMs: 0 });
    equal(await judge(verifier, await byOld()), "ok");
    server.isUp = false;
    equal(await judge(verifier, await byOld()), "unavailable");
  });

  it("that is answered with an error, or is none, is no fault of the token", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    const body = JSON.stringify({ keys: [old.jwk] });
    for (const answer of [
      { status: 500, body },
      { status: 200, body: "{" },
      { status: 200, body: '{"keys":7}' },
    ]) {
      server.answer = answer;
      const refused = { code: "unavailable", retryAfterS: 5 };
      await rejects(withKeys(server).verify(`Bearer ${await byOld()}`), refused, JSON.stringify(answer));
    }
  });

  it("that can't be read is told of, with the cause, once for all callers", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    const causes: string[] = [];
    const log = pino({ base: null }, { write: (line) => causes.push(JSON.parse(line).err.message) });
    server.answer = { status: 404, body: "" };
    const verifier = withKeys(server, { log });
    for (let again = 0; again < 3; again++) equal(await judge(verifier, await byOld()), "unavailable");
    deepEqual(causes, ["the key set was answered with 404"]);

    delete server.answer;
    const served = withKeys(server, { log });
    equal(await judge(served, await byFresh()), "unauthorized");
    equal(causes.length, 1);
    server.isUp = false;
    equal(await judge(served, await byFresh()), "unavailable");
    match(causes[1] ?? "", /^fetch failed: /);
  });

  it("with an RSA key that is too short is told of, and no fault of the token", async (test) => {
    const { short, token } = makeShortKey("short");
    const server = await keyServerFor(test, [short]);
    const causes: string[] = [];
    const log = pino({ base: null }, { write: (line) => causes.push(JSON.parse(line).err.message) });
    equal(await judge(withKeys(server, { log }), token), "unavailable");
    deepEqual(causes, ["RS256 requires key modulusLength to be 2048 bits or larger"]);
  });

  it("with such a key verifies tokens that name no key by the others", async (test) => {
    const [{ short, token }, good] = [makeShortKey(undefined), await makeKey("RS256", "good")];
    const { kid: _kid, ...nameless } = good.jwk;
    const server = await keyServerFor(test, [short, nameless]);
    const causes: string[] = [];
    const log = pino({ base: null }, { write: (line) => causes.push(JSON.parse(line).err.message) });
    const verifier = withKeys(server, { log });
    equal(await judge(verifier, await sign({ alg: "RS256" }, good.privateKey)), "ok");
    deepEqual(causes, []);
    equal(await judge(verifier, token), "unavailable");
    deepEqual(causes, ["RS256 requires key modulusLength to be 2048 bits or larger"]);
  });

  it("that is answered with an error, or is none, is not asked for by each token", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    for (const answer of [
      { status: 503, body: "" },
      { status: 200, body: "<html>" },
      { status: 200, body: '{"keys":7}' },
    ]) {
      server.answer = answer;
      server.fetches = 0;
      const verifier = withKeys(server, { pauseMs: 600_000 });
      for (let again = 0; again < 3; again++) equal(await judge(verifier, await byOld()), "unavailable");
      equal(server.fetches, 1, answer.body);
    }
  });

  it("is not asked again for a token that it verified a moment ago", async (test) => {
    const server = await keyServerFor(test, [old.jwk]);
    const verifier = withKeys(server, { maxAgeMs: 0 });
    const token = await byOld();
    equal(await judge(verifier, token), "ok");
    server.isUp = false;
    deepEqual([await judge(verifier, token), server.fetches], ["ok", 1]);
    equal(await judge(verifier, await byOld()), "unavailable");
  });

  it("verifies EdDSA too, and its tokens need issuer and audience", async (test) => {
    const key = await makeKey("EdDSA", "ed");
    const verifier = withKeys(await keyServerFor(test, [key.jwk]));
    equal(await judge(verifier, await sign({ alg: "EdDSA", kid: "ed" }, key.privateKey)), "ok");
    for (const wrong of [{ iss: "other" }, { aud: "other" }]) {
      const token = new SignJWT({ ...CLAIMS, ...wrong, exp: 4_000_000_000 });
      const signed = await token.setProtectedHeader({ alg: "EdDSA", kid: "ed" }).sign(key.privateKey);
      equal(await judge(verifier, signed), "unauthorized");
    }
  });
});
