/** The example receivers, each against real requests of a real Postern, and against what nobody may send. */
import assert from "node:assert/strict";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { generateSigningSecret, makeSigningKey, sign } from "../src/outbound/signature.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import {
  LANGUAGES,
  prepareExample,
  startExample,
  type ExampleReceiver,
  type Language,
} from "./support/example-receivers.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import type { ReceivedRequest } from "./support/tls-receiver.ts";

const missing = new Map<Language, string>();
for (const language of LANGUAGES) {
  const why = prepareExample(language, (line) => console.log(line));
  if (why !== null) missing.set(language, why);
}

/** The running examples by the path of their endpoint, to which the TLS receiver hands requests on. */
const examples = new Map<string, ExampleReceiver>();
let service: TestService;

before(async () => {
  service = await startTestService({
    respond: async ({ path, headers, body }) => {
      const example = examples.get(path);
      return { status: example === undefined ? 500 : await post(example, headers, body) };
    },
  });
});
after(() => service.stop());

/** Sends exactly these bytes; answers the status. */
async function post({ port }: ExampleReceiver, headers: IncomingHttpHeaders, body: Buffer): Promise<number> {
  const sent = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/", headers });
  sent.end(body);
  const [response] = await once(sent, "response");
  response.resume();
  await once(response, "end");
  return response.statusCode ?? 0;
}

/** Publishes an event and waits for its delivery's status and request. */
async function send(endpointId: string): Promise<{ status: number | null; request: ReceivedRequest }> {
  const { id } = await publish(service, "invoice.paid", { data: { note: "für dich: 🧾", amount: 1.5 } });
  const delivery = await eventually(async () => {
    // Behind a failed attempt there is the next one, which is pending.
    const rows = await listDeliveries(service, endpointId, `?event_id=${id}`);
    return rows.find(({ status }) => status !== "pending");
  });
  const request = service.receiver.requests.find((one) => one.headers["x-service-delivery"] === delivery.id);
  assert.ok(request !== undefined);
  return { status: delivery.response_status, request };
}

function signaturesOf({ headers }: ReceivedRequest): string[] {
  return String(headers["webhook-signature"]).split(" ");
}

/** The headers of an event that was signed so long ago, or ahead, by this secret. */
function signedAt(request: ReceivedRequest, secret: string, offsetS: number): IncomingHttpHeaders {
  const timestampSeconds = Math.floor(Date.now() / 1000) + offsetS;
  const webhookId = String(request.headers["webhook-id"]);
  const body = request.body.toString("utf8");
  const { webhookSignature } = sign([makeSigningKey(secret)], { webhookId, timestampSeconds, body });
  return {
    ...request.headers,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": webhookSignature,
  };
}

async function rotate(endpointId: string, graceS: number): Promise<void> {
  const json = { grace_seconds: graceS };
  const answer = await service.call("POST", `/api/webhooks/${endpointId}/rotate-secret`, { json });
  assert.equal(answer.status, 200, answer.text);
}

for (const language of LANGUAGES) {
  const why = missing.get(language);
  describe(`the receiver in ${language}`, { skip: why !== undefined && `DID NOT RUN: ${why}` }, () => {
    let example: ExampleReceiver;
    let endpointId: string;
    let secret: string;
    let accepted: ReceivedRequest;

    before(async () => {
      const url = new URL(`/${language}`, service.receiver.url).href;
      const created = await createEndpoint(service, { url, events: ["invoice.paid"] });
      endpointId = created.endpoint.id;
      secret = created.secret;
      // Of two secrets the second counts too: a receiver may have its next one early.
      example = await startExample(language, [generateSigningSecret(), secret]);
      examples.set(`/${language}`, example);
    });
    after(async () => {
      await service.call("DELETE", `/api/webhooks/${endpointId}`);
      await example.stop();
    });

    it("accepts what Postern sends, and does its work once", async () => {
      const { status, request } = await send(endpointId);
      assert.equal(status, 204);
      accepted = request;
      const id = String(request.headers["webhook-id"]);
      assert.equal(await post(example, request.headers, request.body), 204);
      await eventually(async () => example.accepted(id) > 0);
      assert.equal(example.accepted(id), 1);
    });

    it("refuses what is forged", async () => {
      const { headers, body } = accepted;
      const { "webhook-signature": signature, ...unsigned } = headers;
      const altered = Buffer.from(body.toString("utf8").replace("1.5", "9.5"));
      assert.equal(altered.length, body.length);
      const forged: Record<string, [IncomingHttpHeaders, Buffer]> = {
        "another body": [headers, altered],
        "another id": [{ ...headers, "webhook-id": "01a1fbb6-32be-7099-847a-56bd4ed42b7a" }, body],
        "another time": [
          { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 1) },
          body,
        ],
        "a time that is none": [{ ...headers, "webhook-timestamp": "now" }, body],
        "another signature": [{ ...headers, "webhook-signature": `v1,${"A".repeat(43)}=` }, body],
        "half of the signature": [{ ...headers, "webhook-signature": String(signature).slice(0, 20) }, body],
        "an empty signature": [{ ...headers, "webhook-signature": "v1," }, body],
        "no signature": [unsigned, body],
        "another secret": [signedAt(accepted, generateSigningSecret(), 0), body],
      };
      for (const [name, [given, bytes]] of Object.entries(forged)) {
        assert.equal(await post(example, given, bytes), 401, name);
      }
      assert.equal(await post(example, signedAt(accepted, secret, 0), body), 204, "the same, signed well");
    });

    it("refuses what was signed more than five minutes ago, or is as far ahead", async () => {
      for (const [offsetS, expected] of [
        [-600, 401],
        [600, 401],
        [-200, 204],
        [200, 204],
      ] as const) {
        const headers = signedAt(accepted, secret, offsetS);
        assert.equal(await post(example, headers, accepted.body), expected, `${offsetS} s`);
      }
    });

    it("accepts both secrets' signatures during a rotation, and only the new one's afterwards", async () => {
      await rotate(endpointId, 3600);
      // A worker knows of a rotation within a second.
      const { status, request } = await eventually(async () => {
        const sent = await send(endpointId);
        return signaturesOf(sent.request).length === 2 && sent;
      });
      assert.equal(status, 204);
      const signatures = signaturesOf(request);
      const turned = { ...request.headers, "webhook-signature": signatures.toReversed().join(" ") };
      assert.equal(await post(example, turned, request.body), 204);
      await rotate(endpointId, 0);
      const refused = await eventually(async () => {
        const sent = await send(endpointId);
        return signaturesOf(sent.request).length === 1 && sent;
      });
      assert.equal(refused.status, 401);
    });
  });
}
