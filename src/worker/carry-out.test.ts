/** One dispatch, from its lane to its outcome: when it is sent, where it goes otherwise, and what is counted. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import { generateSigningSecret, makeSigningKey } from "../outbound/signature.ts";
import type { CompletedAttempt, LeasedDispatch } from "../queue/queue.ts";
import { newEndpointId } from "../shared/id.ts";
import { SecretBoxError } from "../shared/secret-box.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import { CarryOut } from "./carry-out.ts";
import { Lanes, SHARES } from "./lanes.ts";

const tenantId = tenant("acme");
const endpointId = newEndpointId();

const TARGET: SendTarget = {
  tenantId,
  endpointId,
  url: "https://example.com/",
  events: ["*"],
  enabled: true,
  mode: "push",
  temporaryUntil: null,
  rateLimit: null,
  headers: {},
  failingSince: null,
  keeps: null,
  masked: new Set(),
  signingKeys: [makeSigningKey(generateSigningSecret())],
};

describe("a dispatch", () => {
  let clock: VirtualClock;
  let metrics: Metrics;
  /** What became of it, in order. */
  let steps: string[];
  let status: number;
  let covers: boolean;
  let owns: boolean;
  let lock: Promise<unknown> | undefined;
  let target: () => SendTarget | null;
  let isHealthNews: boolean;

  beforeEach(() => {
    [clock, metrics, steps, status] = [new VirtualClock(), makeMetrics(), [], 200];
    [covers, owns, lock, target, isHealthNews] = [true, true, undefined, () => TARGET, false];
  });

  const step = (text: string): void => void steps.push(text);

  function newCarryOut(lanes: Lanes): CarryOut {
    const services = {
      clock,
      metrics,
      log: makeLog("silent"),
      scheduleMs: [0],
      tracing: null,
      artifacts: { choose: () => null },
      blockedTarget: () => step("blocked"),
      sender: {
        async send() {
          step("sent");
          return { kind: "answered" as const, status, headers: {}, body: "", latencyMs: 1 };
        },
      },
      targets: { fresh: () => undefined, get: async () => target(), forget: () => step("target forgotten") },
      health: { observe: async () => isHealthNews },
      presence: {
        isConfirmed: () => true,
        unbrokenSince: () => 0,
        whenConfirmed: () => undefined,
        covers: () => covers,
      },
    };
    return new CarryOut(services, {
      lanes,
      slots: { owns: () => owns },
      outcomes: {
        async record(completed: CompletedAttempt) {
          step(completed.error ?? completed.status);
          return true;
        },
        lockOf: () => lock,
        refused: () => 0,
      },
      returns: {
        hold: async () => step("held"),
        release: async (_given, to, reason) => step(`${to}: ${reason}`),
      },
      pump: () => undefined,
      wake: () => undefined,
    });
  }

  function start(made: Partial<LeasedDispatch> = {}): Promise<void> {
    const lanes = new Lanes(SHARES);
    const dispatch = leasedDispatch({ endpointId, ...made });
    assert.ok(lanes.offer(dispatch, clock.nowMs()));
    assert.equal(lanes.next(clock.nowMs())?.kind, "start");
    return newCarryOut(lanes).attempt(dispatch);
  }

  async function stepsOf(made?: Partial<LeasedDispatch>): Promise<string[]> {
    await start(made);
    return steps;
  }

  const latencies = async () =>
    (await metrics.deliveryLatency.get()).values.find(({ metricName }) => metricName?.endsWith("_count"))
      ?.value ?? 0;

  it("is sent and recorded", async () => {
    assert.deepEqual(await stepsOf(), ["sent", "delivered"]);
  });

  it("goes back unsent whose lease others have freed since", async () => {
    covers = false;
    assert.deepEqual(await stepsOf(), ["claimable: unseen"]);
  });

  it("goes back unsent whose slot has gone to another worker", async () => {
    owns = false;
    assert.deepEqual(await stepsOf(), ["claimable: moved"]);
  });

  it("goes back unsent whose lease ends before the longest attempt does", async () => {
    assert.deepEqual(await stepsOf({ leaseEndsMs: 24_999 }), ["claimable: late"]);
  });

  it("is held where its endpoint is disabled or pull, and ends where it is deleted", async () => {
    for (const [found, step] of [
      [{ ...TARGET, enabled: false }, "held"],
      [{ ...TARGET, mode: "pull" }, "held"],
      [null, "endpoint_deleted"],
    ] as const) {
      steps = [];
      target = () => found;
      assert.deepEqual(await stepsOf(), [step]);
    }
  });

  it("waits until the outcomes before it are recorded", async () => {
    const before = Promise.withResolvers<unknown>();
    lock = before.promise;
    const sending = start();
    await clock.runUntil(1000);
    assert.deepEqual(steps, []);
    before.resolve(undefined);
    await sending;
    assert.deepEqual(steps, ["sent", "delivered"]);
  });

  it("counts as an error with its reason where the attempt can't be made", async () => {
    for (const [error, reason] of [
      [new SecretBoxError("it does not open"), "secret"],
      [new Error("a fault"), "internal"],
    ] as const) {
      metrics.attemptsTotal.reset();
      target = () => {
        throw error;
      };
      assert.deepEqual(await stepsOf(), []);
      const { values } = await metrics.attemptsTotal.get();
      assert.deepEqual(
        values.map(({ labels, value }) => [labels, value]),
        [[{ outcome: "error", reason }, 1]],
      );
    }
  });

  it("has its target read anew once the endpoint's health has changed it", async () => {
    [status, isHealthNews] = [410, true];
    assert.deepEqual(await stepsOf(), ["sent", "target forgotten", "failed"]);
  });

  it("counts in the time to delivery as a first attempt that nobody asked for", async () => {
    await start();
    assert.equal(await latencies(), 1);
    for (const other of [{ once: true }, { attempt: 2 }]) await start(other);
    status = 500;
    await start();
    assert.equal(await latencies(), 1);
  });
});
