/** One attempt: what is sent, what is told of it, and what is kept. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import { targetOf } from "../../test/support/worker-at-hand.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import type { SendOutcome, SendRequest } from "../outbound/send.ts";
import { sign } from "../outbound/signature.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { newEndpointId } from "../shared/id.ts";
import { VERSION } from "../shared/version.ts";
import type { KeptBodies } from "../storage/artifacts/kept-bodies.ts";
import { endpointDeleted, eventGone, makeAttempt } from "./attempt.ts";

const KEPT = { requestBody: true, responseBody: null, days: 7 };
const ANSWERED: SendOutcome = { kind: "answered", status: 200, headers: {}, body: "ok", latencyMs: 7 };

const TARGET: SendTarget = {
  ...targetOf(newEndpointId()),
  url: "https://example.com/hook",
  headers: { "X-Known": "known", "X-Secret": "secret" },
  masked: new Set(["x-secret"]),
};

describe("an attempt", () => {
  let sent: SendRequest[];
  let outcome: SendOutcome;
  let choices: unknown[][];
  let traced: unknown[];

  beforeEach(() => {
    [sent, outcome, choices, traced] = [[], ANSWERED, [], []];
  });

  function attempt(
    dispatch: LeasedDispatch,
    { isTraced = false, keeps = null }: { isTraced?: boolean; keeps?: KeptBodies | null } = {},
  ) {
    const tracing = {
      continues: () => undefined,
      accepted: () => undefined,
      attempt: (of: LeasedDispatch) => {
        traced.push(of);
        return { traceparent: "00-trace", end: (how: unknown) => void traced.push(how) };
      },
      close: async () => undefined,
    };
    return makeAttempt(
      dispatch,
      { ...TARGET, keeps },
      {
        sender: {
          async send(request) {
            sent.push(request);
            return outcome;
          },
        },
        artifacts: {
          choose(...of) {
            choices.push(of);
            return KEPT;
          },
        },
        scheduleMs: [0, 1000],
        tracing: isTraced ? tracing : null,
      },
    );
  }

  it("sends the event, signed for this second, and records it without what is masked or can be derived", async (test) => {
    test.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_999 });
    const dispatch = leasedDispatch({ body: '{"data":1}' });
    const { completed, isGone } = await attempt(dispatch);
    const timestamp = "1800000000";
    const { body, id, eventId } = dispatch;
    const content = { timestampSeconds: Number(timestamp), webhookId: eventId, body };
    const { serviceSignature, webhookSignature } = sign(TARGET.signingKeys, content);
    const recorded = {
      "User-Agent": `Postern/${VERSION}`,
      "X-Service-Signature": serviceSignature,
      "X-Service-Timestamp": timestamp,
      "webhook-signature": webhookSignature,
      "X-Known": "known",
    };
    const headers = {
      ...recorded,
      "Content-Type": "application/json",
      "Accept-Encoding": "identity",
      "X-Service-Event": "a.b",
      "X-Service-Delivery": id,
      "webhook-id": eventId,
      "webhook-timestamp": timestamp,
      "X-Secret": "secret",
    };
    assert.deepEqual(sent, [{ url: TARGET.url, headers, body, keepsWholeBody: false }]);
    assert.deepEqual(completed, {
      dispatch,
      sentAt: new Date(1_800_000_000_999),
      requestHeaders: { ...recorded, "X-Secret": "[masked]" },
      status: "delivered",
      responseStatus: 200,
      responseHeaders: {},
      responseBody: "ok",
      latencyMs: 7,
      error: null,
      nextDelayMs: null,
      exhausted: false,
      toKeep: KEPT,
    });
    assert.equal(isGone, false);
    assert.deepEqual(choices, [[null, { tenantId: TARGET.tenantId, attempt: 1, longResponseBody: null }]]);
  });

  it("keeps whole answers where the tenant wants them, and only there", async () => {
    const keeps = { requestBodies: true, responseBodies: true, days: null };
    const wholeBody = Buffer.from("longer than the beginning");
    outcome = { ...ANSWERED, wholeBody };
    await attempt(leasedDispatch({ attempt: 2 }), { keeps });
    assert.deepEqual(choices, [
      [keeps, { tenantId: TARGET.tenantId, attempt: 2, longResponseBody: wholeBody }],
    ]);
    await attempt(leasedDispatch(), { keeps: { ...keeps, responseBodies: false } });
    assert.deepEqual(
      sent.map(({ keepsWholeBody }) => keepsWholeBody),
      [true, false],
    );
  });

  it("is told to the trace of its event, which its receiver continues", async () => {
    const dispatch = leasedDispatch();
    outcome = { ...ANSWERED, status: 410 };
    const { isGone } = await attempt(dispatch, { isTraced: true });
    assert.equal(sent[0]?.headers["traceparent"], "00-trace");
    assert.equal(traced[0], dispatch);
    assert.partialDeepStrictEqual(traced[1], { responseStatus: 410, error: null });
    assert.equal(isGone, true);
  });

  it("exhausts its event when it failed and none follows, unless a person asked for it or the event is Postern's own", async () => {
    const failed: SendOutcome = { ...ANSWERED, status: 500 };
    for (const [given, made, exhausted, isFollowed] of [
      [failed, { attempt: 1 }, false, true],
      [failed, { attempt: 2 }, true, false],
      [failed, { attempt: 1, once: true }, false, false],
      [failed, { attempt: 2, eventType: "endpoint.disabled" }, false, false],
      [ANSWERED, { attempt: 2 }, false, false],
    ] as const) {
      outcome = given;
      const { completed } = await attempt(leasedDispatch(made));
      assert.deepEqual([completed.exhausted, completed.nextDelayMs !== null], [exhausted, isFollowed]);
    }
  });
});

describe("an attempt without a request", () => {
  it("has failed with nothing sent, and nothing of an answer", () => {
    const dispatch = leasedDispatch({ attempt: 3 });
    const nothing = {
      dispatch,
      sentAt: null,
      requestHeaders: {},
      status: "failed",
      responseStatus: null,
      responseHeaders: null,
      responseBody: null,
      latencyMs: 0,
      nextDelayMs: null,
      exhausted: false,
      toKeep: null,
    };
    assert.deepEqual(endpointDeleted(dispatch), { ...nothing, error: "endpoint_deleted" });
    assert.deepEqual(eventGone(dispatch), { ...nothing, error: null });
  });
});
