/** The parts of a signed request as people paste them: at the edges of their forms, where no request of the service's own comes. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { bodyGuesses, isEnvelope } from "../src/signature/bodies.ts";
import { check, type Finding, type StepName } from "../src/signature/check.ts";
import { parseHeaders } from "../src/signature/headers.ts";
import { readSecret } from "../src/signature/secrets.ts";
import { readService, readStandard } from "../src/signature/signatures.ts";

const ofBytes = (count: number): string => `whsec_${Buffer.alloc(count, 7).toString("base64")}`;

const valuesOf = (text: string) => Object.fromEntries(parseHeaders(text).values);

describe("pasted headers", () => {
  it("may be divided by a tab, as out of a browser's table, and lose the spaces around them", () => {
    assert.deepEqual(valuesOf("Webhook-Id\tmsg_1 \n webhook-timestamp :  5 "), {
      "webhook-id": ["msg_1"],
      "webhook-timestamp": ["5"],
    });
    assert.deepEqual(valuesOf('{"Webhook-Id":" msg_1 ","n":5}'), { "webhook-id": ["msg_1"], n: ["5"] });
  });

  it("have a first line that is none, or one that a request or an answer begins with", () => {
    assert.equal(parseHeaders("HTTP/1.1 200 OK\nPOST / HTTP/2\n\na: 1").unread, null);
    assert.equal(parseHeaders("first\nsecond").unread, "first");
    assert.equal(parseHeaders('{"broken').unread, '{"broken');
  });
});

describe("a pasted secret", () => {
  it("of ours has 24 to 64 bytes, and of one's own 16 to 128 characters", () => {
    for (const [given, faults] of [
      [ofBytes(23), ["secretLength"]],
      [ofBytes(24), []],
      [ofBytes(64), []],
      [ofBytes(65), ["secretLength"]],
      ["x".repeat(15), ["secretText"]],
      ["x".repeat(16), []],
      ["x".repeat(128), []],
      ["x".repeat(129), ["secretText"]],
    ] as const) {
      const { keys, faults: found } = readSecret(given);
      assert.deepEqual(found, faults, given);
      assert.equal(keys === null, faults.length > 0);
    }
  });

  it("is base64 in its one spelling, and a text of 32 bytes has lost what it begins with", () => {
    const spelled = ofBytes(32);
    assert.deepEqual(readSecret(spelled.replace(/c=$/, "d=")).faults, ["secretPadding"]);
    assert.deepEqual(readSecret(spelled.slice("whsec_".length)).faults, ["secretPrefixLost"]);
    assert.deepEqual(readSecret(ofBytes(24).slice("whsec_".length)).faults, []);
  });

  it("may be quoted in three ways, and may be a signature", () => {
    for (const quote of ['"', "'", "`"])
      assert.deepEqual(readSecret(`${quote}${ofBytes(32)}${quote}`).faults, ["secretQuoted"]);
    for (const signature of ["v1,abc", `sha256=${"0".repeat(64)}`])
      assert.deepEqual(readSecret(signature).faults, ["secretSignature"]);
  });
});

describe("a pasted signature", () => {
  it("is read in capitals too", () => {
    const hex = "AB".repeat(32);
    assert.deepEqual(readStandard(`v1,${hex}`).hex, [hex.toLowerCase()]);
    assert.deepEqual(readService(`SHA256=${hex}`), { hex: [hex.toLowerCase()], faults: [], others: [] });
  });

  it("has each fault once, and is said to be none where it is of other versions alone", () => {
    assert.deepEqual(readStandard("v1,! v1,?").faults, ["notBase64"]);
    assert.deepEqual(readStandard("v1a,x v2,y"), { hex: [], faults: ["noSignature"], others: ["v1a", "v2"] });
  });
});

const bodiesOf = (body: string) => bodyGuesses(body).map(({ change, body: guess }) => `${change} ${guess}`);

describe("a pasted body", () => {
  it("may have lost its line ends, or have entities and single quotes of somebody else's", () => {
    assert.ok(bodiesOf("a\nb").includes("lineEnds a\r\nb"));
    assert.ok(bodiesOf("&#34;&#39;&amp;&lt;").includes("markup \"'&<"));
    assert.ok(bodiesOf(`'{\\"a\\":1}'`).includes('quoted {"a":1}'));
  });

  it("is whole with both the type and the data", () => {
    assert.ok(isEnvelope('{"event":"a","data":null}'));
    for (const body of ['{"event":"a"}', '{"data":{}}', "[]", "null", "x"])
      assert.ok(!isEnvelope(body), body);
  });
});

describe("the check of a request", () => {
  const secret = ofBytes(32);
  const at = 1_800_000_000;

  function requestAt(timestamp: string, extra = ""): string {
    const hex = createHmac("sha256", secret).update(`${timestamp}.{}`).digest("hex");
    return `x-service-timestamp: ${timestamp}\nx-service-signature: sha256=${hex}\n${extra}`;
  }

  async function findingsOf(headers: string, name: StepName): Promise<readonly Finding[] | undefined> {
    const { steps } = await check({ headers, body: "{}", secret }, new Date(at * 1000));
    return steps.find((step) => step.name === name)?.findings;
  }

  it("takes the time of the one signature that there is, of up to twelve digits", async () => {
    const recent = { code: "recent", tone: "good", value: "5" };
    assert.deepEqual(await findingsOf(requestAt(String(at - 5)), "time"), [recent]);
    const far = { code: "ahead", tone: "wait", value: String(999_999_999_999 - at) };
    assert.deepEqual(await findingsOf(requestAt("999999999999"), "time"), [far]);
  });

  it("names a header that came twice only where its values differ, and no more than 80 letters of a line", async () => {
    const twice = requestAt(String(at), `X-Service-Timestamp: ${at}\n${"?".repeat(100)}`);
    assert.deepEqual(await findingsOf(twice, "headers"), [
      { code: "serviceAlone", tone: "good" },
      { code: "unread", tone: "plain", value: "?".repeat(80) },
    ]);
  });

  it("says which signature matches only where there are several", async () => {
    const match = { code: "matches", tone: "good", header: "X-Service-Signature" };
    assert.deepEqual(await findingsOf(requestAt(String(at)), "match"), [match]);
  });

  it("blames the secret that was rotated for X-Service-Signature alone, and for the other its id", async () => {
    const other = Buffer.alloc(32, 1).toString("base64");
    const standard = `webhook-id: changed\nwebhook-timestamp: ${at}\nwebhook-signature: v1,${other} v1,${other}`;
    assert.deepEqual(await findingsOf(requestAt(String(at), standard), "match"), [
      { code: "idChanged", tone: "bad", header: "webhook-signature" },
      { code: "matches", tone: "good", header: "X-Service-Signature" },
    ]);
  });
});
