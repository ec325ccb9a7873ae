import { equal, match, notEqual, throws } from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { generateSigningSecret, makeSigningKey, secretFault, SECRET_PATTERN, sign } from "./signature.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const CONTENT = { webhookId: "msg_1", timestampSeconds: 1_700_000_000, body: '{"a":"ä"}' };

const base64 = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;

describe("a signing secret", () => {
  it("is whsec_ and the base64 of 32 random bytes", () => {
    const secret = generateSigningSecret();
    match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    equal(Buffer.from(secret.slice(6), "base64").length, 32);
    notEqual(secret, generateSigningSecret());
  });

  it("of another form is refused without being shown", () => {
    const faulty = ["", "whsec_", `${SECRET}x`, "whsec_c2hvcnQ=", `${SECRET}\n`, SECRET.replace("=", "")];
    faulty.push(
      base64(23),
      base64(65),
      "15 characters..",
      "x".repeat(129),
      "sixteen and an ä",
      "sixteen and a\ttab",
    );
    for (const secret of faulty) {
      throws(() => makeSigningKey(secret), { message: "A signing secret is of no known form." });
      match(secretFault(secret) ?? "", /^must be /, secret);
    }
  });

  it("that a tenant brings along is text, or whsec_ and the base64 of 24 to 64 bytes", () => {
    const bytes = Buffer.from(Array.from({ length: 64 }, (_, index) => index));
    const good = [24, 25, 26, 32, 64].map((size) => `whsec_${bytes.subarray(0, size).toString("base64")}`);
    good.push("0123456789abcdef", "~ printable, with spaces ~", "abcdefgh".repeat(16), "WHSEC_0123456789");
    for (const secret of good) {
      equal(secretFault(secret), null, secret);
      match(secret, new RegExp(SECRET_PATTERN));
      makeSigningKey(secret);
    }
  });

  it("of a few repeated characters is too easy to guess", () => {
    for (const secret of ["x".repeat(64), "12345".repeat(8), `whsec_${Buffer.alloc(32).toString("base64")}`])
      match(secretFault(secret) ?? "", /^is too easy to guess/);
  });

  it("of six different characters is just not too easy to guess, of five it is", () => {
    equal(secretFault("abcdefabcdefabcdef"), null);
    match(secretFault("abcdeabcdeabcdeabc") ?? "", /^is too easy to guess/);
  });

  it("of no form is refused in words of the form that was meant", () => {
    equal(secretFault("whsec_abc"), "must be whsec_ and the base64 of 24 to 64 bytes");
    equal(new RegExp(SECRET_PATTERN).test("short whsec_"), false);
    match(secretFault("short whsec_") ?? "", /^must be 16 to 128 printable ASCII characters, or whsec_/);
  });

  it("that is text is the key of both signatures", () => {
    const secret = "a secret from elsewhere";
    const { serviceSignature, webhookSignature } = sign([makeSigningKey(secret)], CONTENT);
    const timed = '1700000000.{"a":"ä"}';
    equal(serviceSignature, `sha256=${createHmac("sha256", secret).update(timed).digest("hex")}`);
    const expected = createHmac("sha256", secret).update(`msg_1.${timed}`).digest("base64");
    equal(webhookSignature, `v1,${expected}`);
  });
});

describe("a signature", () => {
  it("of X-Service-Signature is keyed with the whole secret over timestamp and body", () => {
    const expected = createHmac("sha256", SECRET).update('1700000000.{"a":"ä"}').digest("hex");
    equal(sign([makeSigningKey(SECRET)], CONTENT).serviceSignature, `sha256=${expected}`);
  });

  it("of Standard Webhooks is keyed with the decoded secret over id, timestamp and body", () => {
    const expected = createHmac("sha256", Buffer.alloc(32, 7))
      .update('msg_1.1700000000.{"a":"ä"}')
      .digest("base64");
    equal(sign([makeSigningKey(SECRET)], CONTENT).webhookSignature, `v1,${expected}`);
  });

  it("during a grace period is a list, newest first; X-Service-Signature stays with the newest", () => {
    const [newest, older] = [makeSigningKey(OTHER), makeSigningKey(SECRET)];
    const both = sign([newest, older], CONTENT);
    equal(
      both.webhookSignature,
      `${sign([newest], CONTENT).webhookSignature} ${sign([older], CONTENT).webhookSignature}`,
    );
    equal(both.serviceSignature, sign([newest], CONTENT).serviceSignature);
  });

  it("is that of the test vector in the Standard Webhooks libraries", () => {
    // https://github.com/standard-webhooks/standard-webhooks: its key is shorter than ours, so only the HMAC is compared.
    const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
    const message = 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}';
    equal(
      createHmac("sha256", key).update(message).digest("base64"),
      "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    );
  });
});
