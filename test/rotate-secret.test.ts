/** Rotating the signing secret: who may, what it answers, and which secrets sign afterwards. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { serviceSignature, webhookSignature } from "./support/receivers.ts";
import { MEMBER, OTHER_OWNER, OWNER, type Claims } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  issuesOf,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const WRITES = ["settings:read", "settings:write"];

let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService();
  webhooks = webhooksOf(service);
});
after(() => service.stop());

async function sentByTest(id: string) {
  await webhooks.test(id, "invoice.paid");
  const request = service.receiver.requests.at(-1);
  assert.ok(request !== undefined);
  return request;
}

describe("POST /api/webhooks/:id/rotate-secret", () => {
  it("answers a new secret, and the old one signs nothing from then on", async () => {
    const { endpoint, secret } = await webhooks.create();
    const next = await webhooks.rotate(endpoint.id);
    assert.match(next, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.notEqual(next, secret);
    const request = await sentByTest(endpoint.id);
    assert.equal(request.headers["x-service-signature"], serviceSignature(next, request));
    assert.equal(request.headers["webhook-signature"], webhookSignature(next, request));
  });

  it("signs with both secrets during a grace period, the new one first", async () => {
    const { endpoint, secret } = await webhooks.create();
    const next = await webhooks.rotate(endpoint.id, { grace_seconds: 604_800 });
    const request = await sentByTest(endpoint.id);
    assert.equal(request.headers["x-service-signature"], serviceSignature(next, request));
    assert.equal(
      request.headers["webhook-signature"],
      `${webhookSignature(next, request)} ${webhookSignature(secret, request)}`,
    );
  });

  it("signs with the new secret alone once the grace period is over", async () => {
    const { endpoint } = await webhooks.create();
    const next = await webhooks.rotate(endpoint.id, { grace_seconds: 600 });
    const age = (seconds: number) =>
      service.database.pool.query(
        "UPDATE postern.endpoints SET previous_secret_until = previous_secret_until - make_interval(secs => $2) WHERE id = $1",
        [endpoint.id, seconds],
      );
    const signatures = async () =>
      String((await sentByTest(endpoint.id)).headers["webhook-signature"]).split(" ").length;
    await age(540);
    assert.equal(await signatures(), 2);
    await age(60);
    const request = await sentByTest(endpoint.id);
    assert.equal(request.headers["webhook-signature"], webhookSignature(next, request));
  });

  it("ends a running grace period with the next rotation", async () => {
    const { endpoint } = await webhooks.create();
    await webhooks.rotate(endpoint.id, { grace_seconds: 3600 });
    const last = await webhooks.rotate(endpoint.id, { grace_seconds: 0 });
    const request = await sentByTest(endpoint.id);
    assert.equal(request.headers["webhook-signature"], webhookSignature(last, request));
  });

  it("takes an absent body and an empty object as no grace", async () => {
    const { endpoint } = await webhooks.create();
    for (const options of [{}, { json: {} }, { raw: "" }, { json: null }, { json: { other: 1 } }]) {
      const answer = await webhooks.call("POST", `/${endpoint.id}/rotate-secret`, options);
      assert.equal(answer.status, 200, answer.text);
    }
  });

  it("refuses a grace period out of bounds and leaves the secret as it is", async () => {
    const { endpoint, secret } = await webhooks.create();
    for (const grace_seconds of [-1, 604_801, 1.5, "60", null]) {
      const answer = await webhooks.call("POST", `/${endpoint.id}/rotate-secret`, {
        json: { grace_seconds },
      });
      assert.deepEqual(Object.keys(issuesOf(answer)), ["grace_seconds"]);
    }
    for (const json of [[], 7, "now", false]) {
      issuesOf(await webhooks.call("POST", `/${endpoint.id}/rotate-secret`, { json }));
    }
    for (const raw of ["{'grace_seconds':86400}", '{"grace_seconds":86400,}', "grace_seconds=86400", " "]) {
      const answer = await webhooks.call("POST", `/${endpoint.id}/rotate-secret`, { raw });
      assert.deepEqual(issuesOf(answer), { "": "the body is missing, or is not JSON" });
    }
    const request = await sentByTest(endpoint.id);
    assert.equal(request.headers["x-service-signature"], serviceSignature(secret, request));
  });

  it("is for owners alone, in either spelling; a missing role is no owner", async () => {
    const { endpoint } = await webhooks.create();
    const rotateAs = (as: Claims) => webhooks.call("POST", `/${endpoint.id}/rotate-secret`, { as });
    for (const role of ["owner", "OWNER"]) {
      assert.equal((await rotateAs({ ...OWNER, role })).status, 200);
    }
    const { role: _none, ...withoutRole } = OWNER;
    const others: Claims[] = [
      { ...OWNER, role: "admin" },
      { ...OWNER, role: "Owner", permissions: WRITES },
      { ...OWNER, role: "member", permissions: WRITES },
      { ...withoutRole, permissions: WRITES },
    ];
    for (const as of others) assertRefused(await rotateAs(as), REFUSED.ownerRequired);
    assertRefused(await rotateAs(MEMBER), REFUSED.forbidden);
    assertRefused(await rotateAs({ ...OWNER, permissions: ["settings:read"] }), REFUSED.forbidden);
  });

  it("answers not found for an endpoint that is not there, or whose id is none", async () => {
    for (const id of [UNKNOWN_ID, UNKNOWN_ID.toUpperCase(), "x"]) {
      assertRefused(await webhooks.call("POST", `/${id}/rotate-secret`), REFUSED.notFound);
    }
  });

  it("stores the secret encrypted", async () => {
    const { endpoint, secret } = await webhooks.create();
    const next = await webhooks.rotate(endpoint.id, { grace_seconds: 60 });
    const { rows } = await service.database.pool.query<{ row: string }>(
      "SELECT endpoints::text || encode(secret, 'escape') || encode(previous_secret, 'escape') AS row FROM postern.endpoints WHERE id = $1",
      [endpoint.id],
    );
    const [{ row } = { row: "" }] = rows;
    assert.notEqual(row, "");
    for (const text of [secret, next]) {
      assert.ok(!row.includes(text));
      assert.ok(!row.includes(Buffer.from(text.slice("whsec_".length), "base64").toString("hex")));
    }
  });
});

describe("an own secret", () => {
  const BYTES = `whsec_${randomBytes(24).toString("base64")}`;
  const TEXT = "a secret from elsewhere";

  it("is taken on create, answered once, and signs both signatures", async () => {
    for (const given of [BYTES, TEXT]) {
      const { endpoint, secret } = await webhooks.create({ secret: given });
      assert.equal(secret, given);
      assert.ok(!JSON.stringify(await webhooks.detail(endpoint.id)).includes(given));
      const request = await sentByTest(endpoint.id);
      assert.equal(request.headers["x-service-signature"], serviceSignature(given, request));
      assert.equal(request.headers["webhook-signature"], webhookSignature(given, request));
    }
  });

  it("is taken on rotate-secret, beside the former one during a grace period, by owners alone", async () => {
    const { endpoint, secret } = await webhooks.create();
    const path = `/${endpoint.id}/rotate-secret`;
    const refused = await webhooks.call("POST", path, {
      as: { ...OWNER, role: "admin" },
      json: { secret: TEXT },
    });
    assertRefused(refused, REFUSED.ownerRequired);
    const other = await webhooks.call("POST", path, { as: OTHER_OWNER, json: { secret: TEXT } });
    assertRefused(other, REFUSED.notFound);
    assert.equal(await webhooks.rotate(endpoint.id, { secret: TEXT, grace_seconds: 60 }), TEXT);
    const request = await sentByTest(endpoint.id);
    assert.equal(request.headers["x-service-signature"], serviceSignature(TEXT, request));
    assert.equal(
      request.headers["webhook-signature"],
      `${webhookSignature(TEXT, request)} ${webhookSignature(secret, request)}`,
    );
  });

  it("that is null is made", async () => {
    const { endpoint, secret } = await webhooks.create({ secret: null });
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.notEqual(await webhooks.rotate(endpoint.id, { secret: null }), secret);
  });

  it("that is weak or of another form is refused without being shown, and changes nothing", async () => {
    const { endpoint, secret } = await webhooks.create();
    const before = await webhooks.list();
    const weak = [
      "mine",
      "hunter2hunter2!",
      "aaaaaaaaaaaaaaaaaaaa",
      "whsec_short",
      "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ];
    for (const given of [
      ...weak,
      "täglich neue Zeichen",
      "a line\nand another one",
      "x1y2z3".repeat(22),
      7,
      {},
    ]) {
      for (const [path, json] of [
        ["", { url: service.receiver.url, secret: given }],
        [`/${endpoint.id}/rotate-secret`, { secret: given }],
      ] as const) {
        const answer = await webhooks.call("POST", path, { json });
        assert.deepEqual(Object.keys(issuesOf(answer)), ["secret"], answer.text);
        if (typeof given === "string") assert.ok(!answer.text.includes(given));
      }
    }
    assert.deepEqual(await webhooks.list(), before);
    const request = await sentByTest(endpoint.id);
    assert.equal(request.headers["x-service-signature"], serviceSignature(secret, request));
  });
});
