/** The signature debugger's judgement, on requests that the service signed, and on what may have happened to them. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { OWNER } from "../../test/support/calls.ts";
import { startTestService, type TestService } from "../../test/support/service.ts";
import type { ReceivedRequest } from "../../test/support/tls-receiver.ts";
import { check, type Code, type Report } from "../src/signature/check.ts";

let service: TestService;
let endpointId: string;
let secret: string;
let sent: ReceivedRequest;

before(async () => {
  service = await startTestService();
  const json = { url: service.receiver.url, events: ["*"] };
  const { body } = await service.call("POST", "/api/webhooks", { json });
  ({ secret, id: endpointId } = created.parse(body));
  sent = await sendTest();
});
after(() => service.stop());

const created = z
  .object({ secret: z.string(), endpoint: z.object({ id: z.string() }) })
  .transform(({ secret, endpoint }) => ({ secret, id: endpoint.id }));

async function sendTest(): Promise<ReceivedRequest> {
  const json = { event_type: "invoice.paid", data: { note: "für dich: 🧾", path: "a/b", price: 1.5 } };
  const { status, text } = await service.call("POST", `/api/webhooks/${endpointId}/test`, {
    as: OWNER,
    json,
  });
  assert.equal(status, 200, text);
  const request = service.receiver.requests.at(-1);
  assert.ok(request !== undefined);
  return request;
}

async function rotate(json: object): Promise<string> {
  const { body } = await service.call("POST", `/api/webhooks/${endpointId}/rotate-secret`, { json });
  return z.object({ secret: z.string() }).parse(body).secret;
}

type Change = { headers?: Record<string, string | null>; body?: string; secret?: string; at?: Date };

/** Checks the request that was sent, with these changes. A header that is null is left out. */
function judge({ headers = {}, body, secret: other, at: now }: Change = {}, request = sent): Promise<Report> {
  const lines = Object.entries({ ...request.headers, ...headers }).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${String(value)}`],
  );
  const bodyText = request.body.toString("utf8");
  return check(
    { headers: lines.join("\n"), body: body ?? bodyText, secret: other ?? secret },
    now ?? new Date(),
  );
}

function codes({ steps }: Report): Code[] {
  return steps.flatMap(({ findings }) => findings.map(({ code }) => code));
}

async function assertFound(change: Change, expected: readonly Code[], verdict = "wrong"): Promise<void> {
  const report = await judge(change);
  assert.equal(report.verdict, verdict, JSON.stringify(report));
  for (const code of expected)
    assert.ok(codes(report).includes(code), `${code} in ${codes(report).join(", ")}`);
}

const header = (name: string): string => String(sent.headers[name]);
const at = (seconds: number): Date => new Date((Number(header("webhook-timestamp")) + seconds) * 1000);
const standard = (): string => header("webhook-signature").slice("v1,".length);
const hex = (): string => Buffer.from(standard(), "base64").toString("hex");
const text = (): string => sent.body.toString("utf8");

describe("a request as it was sent", () => {
  it("is right, by both signatures", async () => {
    const report = await judge();
    assert.equal(report.verdict, "right", JSON.stringify(report));
    assert.deepEqual(codes(report), ["both", "recent", "secretStandard", "one", "one", "matches", "matches"]);
  });

  it("is right with one of the signatures alone", async () => {
    await assertFound(
      { headers: { "x-service-signature": null, "x-service-timestamp": null } },
      ["standardAlone"],
      "right",
    );
    const none = { "webhook-id": null, "webhook-timestamp": null, "webhook-signature": null };
    await assertFound({ headers: none }, ["serviceAlone", "matches"], "right");
  });

  it("is read from JSON, from a command of curl, and from names and values line by line", async () => {
    const own = Object.entries(sent.headers).map(([name, value]) => [name, String(value)] as const);
    const forms = [
      JSON.stringify(Object.fromEntries(own), null, 2),
      `curl -X POST 'https://x.example' \\\n${own.map(([name, value]) => `  -H '${name}: ${value}'`).join(" \\\n")}`,
      own
        .map(([name, value]) => `${name}\n${value}`)
        .filter((one) => /^(?:webhook-|x-service-)/.test(one))
        .join("\n"),
      `POST /hooks HTTP/1.1\r\n${own.map(([name, value]) => `${name.toUpperCase()}:${value}`).join("\r\n")}`,
    ];
    for (const headers of forms) {
      const report = await check({ headers, body: text(), secret }, new Date());
      assert.equal(report.verdict, "right", `${headers}\n${JSON.stringify(report)}`);
    }
  });
});

describe("headers", () => {
  it("that are absent are named", async () => {
    await assertFound({ headers: { "webhook-id": null } }, ["missing"]);
    const { steps } = await judge({ headers: { "webhook-id": null } });
    assert.deepEqual(steps[0]?.findings, [{ code: "missing", tone: "bad", value: "webhook-id" }]);
    const report = await check(
      { headers: "content-type: text/plain\nwhat is this", body: "{}", secret },
      new Date(),
    );
    assert.deepEqual(codes(report).slice(0, 3), ["noHeaders", "unread", "noTime"]);
    assert.ok(codes(report).includes("notChecked"));
  });

  it("that came twice are named", async () => {
    const own = Object.entries(sent.headers).map(([name, value]) => `${name}: ${String(value)}`);
    const headers = [...own, "Webhook-Id: another"].join("\n");
    assert.ok(codes(await check({ headers, body: text(), secret }, new Date())).includes("twice"));
  });

  it("of which the id was changed leave the other signature right", async () => {
    await assertFound({ headers: { "webhook-id": "msg_other" } }, ["idChanged", "matches"]);
  });

  it("of which X-Service-Signature was changed leave the other right", async () => {
    await assertFound({ headers: { "x-service-signature": `sha256=${"0".repeat(64)}` } }, ["headerChanged"]);
  });
});

describe("the time", () => {
  it("of an older request, or of a clock that is wrong, is too far away, and by how much is said", async () => {
    await assertFound({ at: at(300) }, ["recent"], "right");
    await assertFound({ at: at(301) }, ["old", "matches"], "late");
    await assertFound({ at: at(-301) }, ["ahead"], "late");
    const { steps } = await judge({ at: at(7200) });
    assert.deepEqual(steps[1]?.findings, [{ code: "old", tone: "wait", value: "7200" }]);
  });

  it("in milliseconds, or as a date, is no time", async () => {
    const headers = { "webhook-timestamp": `${header("webhook-timestamp")}000` };
    await assertFound({ headers }, ["milliseconds", "timesDiffer"]);
    await assertFound({ headers: { "webhook-timestamp": "2026-01-31T09:00:00Z" } }, ["notSeconds"]);
  });
});

describe("a secret", () => {
  it("that another endpoint has matches nothing", async () => {
    const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    await assertFound({ secret: other }, ["secretStandard", "noMatch"]);
    const report = await judge({ secret: other });
    assert.equal(codes(report).filter((code) => code === "noMatch").length, 2);
  });

  it("that was copied wrongly is mended, and what was wrong is said", async () => {
    const faults: [string, Code][] = [
      [` ${secret}\n`, "secretSpace"],
      [`"${secret}"`, "secretQuoted"],
      [secret.slice("whsec_".length), "secretPrefixLost"],
      [secret.replace(/=+$/, ""), "secretPadding"],
    ];
    for (const [given, code] of faults) await assertFound({ secret: given }, [code, "secretMended"]);
    const bytes = Buffer.alloc(32, 0xfb);
    await assertFound({ secret: `whsec_${bytes.toString("base64url")}` }, ["secretUrlBase64", "noMatch"]);
  });

  it("of no known form is told apart", async () => {
    const faults: [string, Code][] = [
      ["whsec_no base64!", "secretNotBase64"],
      ["whsec_c2hvcnQ=", "secretLength"],
      ["short", "secretText"],
      [header("webhook-signature"), "secretSignature"],
    ];
    for (const [given, code] of faults) await assertFound({ secret: given }, [code, "noMatch"]);
  });
});

describe("a body that was changed", () => {
  const changes: Record<string, [(body: string) => string, Code]> = {
    "by a line's end behind it": [(body) => `${body}\n`, "trailingSpace"],
    "by laying it out": [(body) => JSON.stringify(JSON.parse(body), null, 2), "spaces"],
    "as Python writes it": [(body) => body.replaceAll('":', '": ').replaceAll(',"', ', "'), "spaces"],
    "as PHP writes it": [
      (body) =>
        body
          .replaceAll("/", "\\/")
          .replaceAll(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
      "escapes",
    ],
    "in the order of its members": [
      (body) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).toReversed())),
      "order",
    ],
    "by a second encoding": [(body) => JSON.stringify(body), "quoted"],
    "by a byte order mark": [(body) => `\uFEFF${body}`, "bom"],
    "by HTML": [(body) => body.replaceAll('"', "&quot;"), "markup"],
  };
  for (const [how, [change, code]] of Object.entries(changes)) {
    it(`${how} matches once that is undone`, () => assertFound({ body: change(text()) }, [code]));
  }

  it("in what it says matches nothing", async () => {
    await assertFound({ body: text().replace("1.5", "2.5") }, ["noMatch"]);
  });

  it("to a part of it is told", async () => {
    const part = JSON.stringify(z.object({ data: z.unknown() }).parse(JSON.parse(text())).data);
    await assertFound({ body: part }, ["noMatch", "notEnvelope"]);
  });

  it("and had a line's end when it was signed matches once it is back", async () => {
    const timestamp = Math.floor(Date.now() / 1000);
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`msg_1.${timestamp}.{"a":1}\n`).digest("base64");
    const headers = `webhook-id: msg_1\nwebhook-timestamp: ${timestamp}\nwebhook-signature: v1,${signature}`;
    const report = await check({ headers, body: '{"a":1}', secret }, new Date());
    assert.ok(codes(report).includes("newlineLost"));
  });
});

describe("a signature's form", () => {
  it("is read with good will, and its faults are said", async () => {
    const service64 = Buffer.from(header("x-service-signature").slice("sha256=".length), "hex").toString(
      "base64",
    );
    const faults: [Record<string, string>, Code][] = [
      [{ "webhook-signature": standard() }, "versionLost"],
      [{ "webhook-signature": `v1,${hex()}` }, "hexForBase64"],
      [{ "webhook-signature": `v1,${standard()}, v1,${standard()}` }, "commaList"],
      [{ "webhook-signature": "v1,not base64!" }, "notBase64"],
      [{ "webhook-signature": "v1,c2hvcnQ=" }, "signatureLength"],
      [{ "x-service-signature": header("x-service-signature").slice("sha256=".length) }, "prefixLost"],
      [{ "x-service-signature": `sha256=${service64}` }, "base64ForHex"],
      [{ "x-service-signature": "sha256=xyz" }, "notHex"],
      [{ "x-service-signature": "sha256=abcd" }, "signatureLength"],
    ];
    for (const [headers, code] of faults) await assertFound({ headers }, [code]);
  });

  it("of a version that is not used here is passed over", async () => {
    const headers = { "webhook-signature": `v1a,xyz ${header("webhook-signature")}` };
    await assertFound({ headers }, ["otherVersions", "matches"], "right");
  });
});

describe("while a rotated secret has grace", () => {
  it("either secret is right, and which of the signatures matches is said", async () => {
    const former = secret;
    secret = await rotate({ grace_seconds: 3600 });
    sent = await sendTest();
    const newer = await judge();
    assert.equal(newer.verdict, "right");
    assert.ok(codes(newer).includes("several"));
    const older = await judge({ secret: former });
    assert.equal(older.verdict, "right", JSON.stringify(older));
    assert.deepEqual(
      older.steps.at(-1)?.findings.map(({ code, value }) => [code, value]),
      [
        ["matches", "2"],
        ["formerSecret", undefined],
      ],
    );
  });

  it("and an own secret is the key of both as it is", async () => {
    secret = await rotate({ secret: "a secret from elsewhere" });
    sent = await sendTest();
    const report = await judge();
    assert.equal(report.verdict, "right", JSON.stringify(report));
    assert.ok(codes(report).includes("secretOwn"));
  });
});
