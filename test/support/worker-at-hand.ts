/**
 * A worker whose queue, receivers and presence a test has in its hands: nothing
 * passes but what it lets pass, and it sees each step.
 */
import assert from "node:assert/strict";
import type { SendTarget } from "../../src/endpoints/send-target.ts";
import type { SendOutcome, SendRequest } from "../../src/outbound/send.ts";
import { generateSigningSecret, makeSigningKey } from "../../src/outbound/signature.ts";
import type { Acceptance, Claimed, DispatchQueue, LeasedDispatch, Presence } from "../../src/queue/queue.ts";
import { slotOf, type Slot } from "../../src/queue/slots.ts";
import { parseEndpointId, type EndpointId, type TenantId } from "../../src/shared/id.ts";
import { makeMetrics } from "../../src/telemetry/metrics.ts";
import { makeWorker, type Worker } from "../../src/worker/worker.ts";
import { makeKeptLog } from "./kept-log.ts";
import { leasedDispatch } from "./leased-dispatch.ts";
import { MemorySlots } from "./memory-slots.ts";
import { tenant } from "./two-tenants.ts";
import { VirtualClock } from "./virtual-clock.ts";

export const tenantId = tenant("acme");
export const NOTHING: Claimed = { claimed: [], withoutEvent: [], isAll: true };
export const DELIVERED: SendOutcome & { kind: "answered" } = {
  kind: "answered",
  status: 200,
  headers: {},
  body: "",
  latencyMs: 1,
};
const signingKeys = [makeSigningKey(generateSigningSecret())] as const;

export function endpointIn(slot: Slot): EndpointId {
  return parseEndpointId(`00000000-0000-7000-8000-${slot.toString(16).padStart(12, "0")}`) ?? assert.fail();
}

/** One endpoint is in the lower half of the slots, the other in the upper. */
export const [own, foreign] = [endpointIn(1), endpointIn(200)];

export const dispatches = (count: number, endpointId = own): LeasedDispatch[] =>
  Array.from({ length: count }, () => leasedDispatch({ endpointId }));

export const idsOf = (of: readonly { id: string }[]): string[] => of.map(({ id }) => id);

export const targetOf = (endpointId: EndpointId): SendTarget => ({
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
  signingKeys,
});

const unused = (): never => assert.fail("a worker does not");

type Sending = { id: string; atMs: number; end: (outcome?: SendOutcome) => void };

export class WorkerAtHand {
  readonly clock = new VirtualClock();
  readonly slots = new MemorySlots(this.clock);
  readonly metrics = makeMetrics();
  readonly kept = makeKeptLog();
  readonly watched: object[] = [];
  readonly steps: string[] = [];
  /** What is sent, in order; each ends when a test says so. */
  readonly sending: Sending[] = [];
  /** What the next claims find. */
  claims: Claimed[] = [];
  looks = 0;
  /** What a claim, and the return of leases, wait for. */
  claimable: Promise<unknown> | undefined;
  releasable: Promise<unknown> | undefined;
  isConfirmed = true;
  readonly #confirmed: (() => void)[] = [];
  readonly worker: Worker;

  constructor() {
    this.slots.confirm("me", true);
    this.worker = makeWorker({
      clock: this.clock,
      queue: this.#queue(),
      log: this.kept.log,
      metrics: {
        ...this.metrics,
        watchLanes: (lanes) => void this.watched.push(lanes),
        watchSlots: (slots) => void this.watched.push(slots),
      },
      tracing: null,
      scheduleMs: [0, 150],
      artifacts: { choose: () => null },
      blockedTarget: unused,
      health: { observe: async () => false },
      targets: { fresh: ({ endpointId }) => this.target(endpointId), get: unused, forget: unused },
      outbox: { relay: async () => "all" },
      slots: this.slots.storeOf("me", { clock: this.clock }),
      presence: this.#presence(),
      sender: { send: (request) => this.#send(request) },
    });
  }

  target = targetOf;
  complete: DispatchQueue["complete"] = async (attempts) =>
    new Set(attempts.map(({ dispatch }) => dispatch.id));
  pull: DispatchQueue["pull"] = async (asks) => new Map(asks.map(({ endpointId }) => [endpointId, NOTHING]));

  passTime(ms: number): Promise<void> {
    return this.clock.runUntil(this.clock.nowMs() + ms);
  }

  /** Takes its slots: all of them, or the lower half beside another worker. */
  async takeSlots({ isAlone = true } = {}): Promise<void> {
    if (!isAlone) {
      this.slots.confirm("other", true);
      for (const row of this.slots.rows.slice(128)) row.owner = "other";
    }
    this.confirm();
    await this.passTime(20);
  }

  confirm(): void {
    for (const listener of this.#confirmed) listener();
  }

  /** Answers where the worker wants what is accepted to go. */
  async accept(given: Partial<Acceptance>, tenants: readonly TenantId[] = [tenantId]) {
    let places: Parameters<Parameters<Worker["accept"]>[0]>[0] | undefined;
    await this.worker.accept(async (asked) => {
      places = asked;
      return { accepted: [], leased: [], parked: [], unleased: [], ...given };
    }, tenants);
    await this.passTime(0);
    return places ?? assert.fail();
  }

  /** How many leases were given back, by reason. */
  async returned(): Promise<Record<string, number>> {
    const { values } = await this.metrics.dispatchesReturned.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.reason), value]));
  }

  async stop(): Promise<void> {
    const stopping = this.worker.stop();
    for (let n = 0; n < 50; n++) {
      for (const { end } of this.sending) end();
      await this.passTime(100);
    }
    await stopping;
  }

  #queue(): DispatchQueue {
    return {
      accept: unused,
      acceptParts: unused,
      findEarlier: unused,
      findKnown: unused,
      relay: unused,
      measure: unused,
      endpointChanged: unused,
      claim: async (_limits, without) => {
        this.looks++;
        await this.claimable;
        const next = this.claims.shift() ?? NOTHING;
        return { ...next, claimed: next.claimed.filter(({ endpointId }) => !without.includes(endpointId)) };
      },
      park: async (endpoints) => {
        this.steps.push(`park ${slotsOf(endpoints)}`);
        return true;
      },
      parkOldest: async (endpoints) => void this.steps.push(`oldest ${endpoints.length}`),
      pull: (asks) => this.pull(asks),
      findDue: async () => [],
      findBacklogs: async () => [],
      complete: (...given) => this.complete(...given),
      release: async (given, to) => {
        await this.releasable;
        this.steps.push(`${to} ${slotsOf(given.map(({ endpointId }) => endpointId))}`);
      },
      defer: async () => void this.steps.push("defer"),
      hold: async (given) => new Set(given.map(({ id }) => id)),
    };
  }

  #presence(): Presence {
    return {
      isConfirmed: () => this.isConfirmed,
      unbrokenSince: () => 0,
      whenConfirmed: (listener) => void this.#confirmed.push(listener),
      covers: () => true,
    };
  }

  #send({ headers }: SendRequest): Promise<SendOutcome> {
    const { promise, resolve } = Promise.withResolvers<SendOutcome>();
    const end = (outcome: SendOutcome = DELIVERED): void => resolve(outcome);
    this.sending.push({ id: headers["X-Service-Delivery"] ?? "", atMs: this.clock.nowMs(), end });
    return promise;
  }
}

function slotsOf(endpoints: readonly EndpointId[]): string {
  return endpoints.map((id) => slotOf(id)).join();
}
