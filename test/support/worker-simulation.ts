/**
 * A worker on a clock of its own: the real lanes, claims, outcomes and returns,
 * the queue in memory, and receivers that behave as a scenario says. Everything
 * that chance decides comes from one seed.
 */
import assert from "node:assert/strict";
import { pino } from "pino";
import type { SendTarget } from "../../src/endpoints/send-target.ts";
import { makeSigningKey } from "../../src/outbound/signature.ts";
import type { SendOutcome, SendRequest } from "../../src/outbound/send.ts";
import { tenantsOf, type NewEvent } from "../../src/queue/queue.ts";
import type { InFlight } from "../../src/queue/slots.ts";
import { sleep } from "../../src/shared/clock.ts";
import { GroupCommit } from "../../src/shared/group-commit.ts";
import {
  newEndpointId,
  newEventId,
  parseDeliveryId,
  parseTenantId,
  type EndpointId,
  type TenantId,
} from "../../src/shared/id.ts";
import { makeMetrics } from "../../src/telemetry/metrics.ts";
import { MOST_WIDTH } from "../../src/worker/width.ts";
import { makeWorker, type Worker } from "../../src/worker/worker.ts";
import { randomFrom } from "./chance.ts";
import { MemoryQueue } from "./memory-queue.ts";
import { MemorySlots } from "./memory-slots.ts";
import { SimulatedOrder } from "./simulated-order.ts";
import { SimulatedLeases } from "./simulated-leases.ts";
import { SimulatedPresence } from "./simulated-presence.ts";
import { BusyClock, PAUSE_MS, SlowTargets, withLocks } from "./busy-machine.ts";
import { PausableClock, VirtualClock } from "./virtual-clock.ts";

/** How a receiver answers a request at a time: after so long, with this status, or not at all (the time limit). */
export type Behaviour = (at: { nowMs: number; random: () => number }) => {
  afterMs: number;
  status: number | null;
};

export type SimulatedEndpoint = {
  tenant: string;
  behaviour: Behaviour;
  /** Events published a second, at random distances. */
  perSecond: number;
  bodySize?: number;
  rateLimit?: number;
  /** The part of its events that come as the first of an array of ten, which is accepted without a lease. */
  arrays?: number;
  /** Due at once at the beginning, as when an endpoint is enabled again. */
  backlog?: number;
  /** Nothing is published after this. */
  untilMs?: number;
};

const TIME_LIMIT_MS = 15_000;
const ARRAY_LENGTH = 10;
const NOTIFIED_AFTER_MS = 1;
/** Within which a dead worker's leases are free. */
const FREED_AFTER_MS = 5000;

export const healthy: Behaviour = ({ random }) => ({ afterMs: 5 + random() * 10, status: 200 });
export const hanging: Behaviour = () => ({ afterMs: TIME_LIMIT_MS, status: null });
export const failing: Behaviour = ({ random }) => ({ afterMs: 3 + random() * 4, status: 500 });
export const slow: Behaviour = ({ random }) => ({ afterMs: 3500 + random() * 1000, status: 200 });
/** Well and hanging in turn. */
export const flapping =
  (everyMs: number): Behaviour =>
  (at) =>
    Math.floor(at.nowMs / everyMs) % 2 === 0 ? healthy(at) : hanging(at);
/** Hangs until a time, and is well from then on. */
export const recovering =
  (atMs: number): Behaviour =>
  (at) =>
    at.nowMs < atMs ? hanging(at) : healthy(at);

type SimulatedWorker = { id: string; worker: Worker; presence: SimulatedPresence; clock: PausableClock };

type Known = SimulatedEndpoint & { id: EndpointId; tenantId: TenantId; starts: number[]; inFlight: number };

export type Report = {
  accepted: number;
  attempts: number;
  /** Updates of dispatches, and at most for one: a dispatch is one attempt. */
  updates: number;
  mostUpdates: number;
  mostWeight: number;
  mostInFlight: number;
  errors: string[];
};

export class Simulation {
  readonly clock = new VirtualClock();
  readonly queue = new MemoryQueue(this.clock);
  readonly #slots = new MemorySlots(this.clock);
  readonly #leases = new SimulatedLeases(this.queue, this.#slots);
  readonly workers: [SimulatedWorker, ...SimulatedWorker[]];
  readonly endpoints: readonly Known[];
  readonly errors: string[] = [];
  #attempts = 0;
  #accepted = 0;
  #mostInFlight = 0;
  #mostWeight = 0;
  #lanes: { inFlight: number; weight: number } = { inFlight: 0, weight: 0 };
  readonly #starts: { tenant: string; workerId: string; atMs: number }[] = [];
  readonly #random: () => number;
  readonly order = new SimulatedOrder();
  readonly #sending = new Set<string>();
  readonly #byId: ReadonlyMap<EndpointId, Known>;
  readonly #byUrl: ReadonlyMap<string, Known>;
  readonly #commits: GroupCommit<NewEvent, void>;
  readonly #isBusy: boolean;

  /** `isBusy`: on a {@link BusyClock}, with {@link SlowTargets} and {@link withLocks}. */
  constructor(seed: number, endpoints: readonly SimulatedEndpoint[], { isBusy = false } = {}) {
    this.#isBusy = isBusy;
    this.#random = randomFrom(seed);
    this.endpoints = endpoints.map((endpoint) => {
      const tenantId = parseTenantId(endpoint.tenant);
      assert.ok(tenantId !== null);
      return { ...endpoint, id: newEndpointId(), tenantId, starts: [], inFlight: 0 };
    });
    this.#byId = new Map(this.endpoints.map((endpoint) => [endpoint.id, endpoint]));
    this.#byUrl = new Map(this.endpoints.map((endpoint) => [urlOf(endpoint.id), endpoint]));
    for (const { tenantId, id } of this.endpoints) {
      this.queue.addEndpoint({ tenantId, endpointId: id, enabled: true });
    }
    this.workers = [this.#makeWorker("worker-0")];
    this.queue.notify = () => {
      for (const { worker, clock } of this.workers) clock.after(NOTIFIED_AFTER_MS, () => worker.wake());
    };
    this.#commits = new GroupCommit(
      (events) => this.#accept(events),
      { maxItems: 1000, maxConcurrent: 4 },
      this.clock,
    );
  }

  /** Publishes, and lets the worker work, for so long; then everything published must be in the queue or over. */
  async run(ms: number): Promise<Report> {
    for (const endpoint of this.endpoints) {
      const events = Array.from({ length: endpoint.backlog ?? 0 }, () => this.#newAccepted(endpoint));
      this.#accepted += events.length;
      this.queue.addBacklog(events, endpoint.id);
      this.#publishLater(endpoint, Math.min(ms, endpoint.untilMs ?? ms));
    }
    for (const { worker } of this.workers) worker.start();
    await this.clock.runUntil(this.clock.nowMs() + ms);
    this.#check(this.#accepted === this.#firsts(), "an accepted event is neither in the queue nor over");
    return this.report();
  }

  report(): Report {
    return {
      accepted: this.#accepted,
      attempts: this.#attempts,
      updates: this.queue.updates,
      mostUpdates: this.queue.mostUpdates,
      mostWeight: this.#mostWeight,
      mostInFlight: this.#mostInFlight,
      errors: [...new Set(this.errors)],
    };
  }

  /** One more worker, on the same queue. */
  add(): SimulatedWorker {
    const added = this.#makeWorker(`worker-${this.workers.length}`);
    this.workers.push(added);
    return added;
  }

  /** Its process is gone. Answers how many dispatches it had leased, which others must free in time. */
  kill({ id, presence, clock }: SimulatedWorker): number {
    presence.loseSession();
    clock.pause();
    this.clock.after(FREED_AFTER_MS, () =>
      this.#check(this.#leases.countOf(id) === 0, "a dead worker still has leases after five seconds"),
    );
    return this.#leases.countOf(id);
  }

  /** When attempts of the tenant's endpoints started. */
  startsOf(tenant: string): number[] {
    return this.#starts.flatMap((start) => (start.tenant === tenant ? [start.atMs] : []));
  }

  /** When the worker started attempts. */
  startsBy({ id }: SimulatedWorker): number[] {
    return this.#starts.flatMap((start) => (start.workerId === id ? [start.atMs] : []));
  }

  latencies(isWanted: (endpoint: SimulatedEndpoint) => boolean): number[] {
    return this.endpoints.filter(isWanted).flatMap(({ id }) => this.order.latenciesMs.get(id) ?? []);
  }

  /** Events whose first attempt is over or pending: each accepted one is, once. */
  #firsts(): number {
    const pending = [...this.queue.rows.values()].filter(({ attempt }) => attempt === 1).length;
    const over = [...this.queue.completed.values()].filter(({ dispatch }) => dispatch.attempt === 1).length;
    return pending + over + this.#publishing;
  }

  #publishing = 0;

  #publishLater(endpoint: Known, untilMs: number): void {
    if (endpoint.perSecond === 0) return;
    const waitMs = (-Math.log(1 - this.#random()) / endpoint.perSecond) * 1000;
    if (this.clock.nowMs() + waitMs > untilMs) return;
    this.clock.after(waitMs, () => {
      const isArray = this.#random() < (endpoint.arrays ?? 0);
      const events = Array.from({ length: isArray ? ARRAY_LENGTH : 1 }, () => this.#newEvent(endpoint));
      this.#accepted += events.length;
      this.#publishing += events.length;
      if (isArray) void this.#acceptArray(events);
      else for (const event of events) void this.#commits.add(event);
      this.#publishLater(endpoint, untilMs);
    });
  }

  #newEvent(endpoint: Known): NewEvent {
    const id = newEventId();
    this.order.published(id, this.clock.nowMs());
    const body = "x".repeat(endpoint.bodySize ?? 400);
    return {
      id,
      tenantId: endpoint.tenantId,
      type: "a.b",
      patterns: [endpoint.id],
      version: 1,
      body,
      others: null,
      idempotencyKey: null,
    };
  }

  /** Nobody publishes to a process that stands still or is gone. */
  #chooseProcess(): SimulatedWorker {
    const [first] = this.workers;
    const running = this.workers.filter(({ clock }) => !clock.isPaused);
    return running[Math.floor(this.#random() * running.length)] ?? first;
  }

  async #acceptArray(events: NewEvent[]): Promise<void> {
    await this.#chooseProcess().worker.acceptUnleased(async (parked) => {
      const accepted = await this.queue.acceptParts([events], { parked });
      this.#publishing -= events.length;
      return accepted;
    });
    this.order.accepted(events, this.clock.nowMs());
  }

  async #accept(events: NewEvent[]): Promise<void[]> {
    const { id: workerId, worker } = this.#chooseProcess();
    await worker.accept(async (places) => {
      const acceptance = await this.queue.accept(events, places);
      this.#leases.note(workerId, acceptance.leased);
      this.#publishing -= events.length;
      return acceptance;
    }, tenantsOf(events));
    this.order.accepted(events, this.clock.nowMs());
    return events.map(() => undefined);
  }

  /** As one of an array: the next one is younger. */
  #newAccepted(endpoint: Known): NewEvent {
    const event = this.#newEvent(endpoint);
    this.order.accepted([event], this.clock.nowMs());
    return event;
  }

  #makeWorker(id: string): SimulatedWorker {
    const clock = this.#isBusy ? new BusyClock(this.clock, this.#random) : new PausableClock(this.clock);
    const presence = new SimulatedPresence(id, this.#slots, clock);
    const log = pino(
      {
        level: "warn",
        base: null,
        serializers: { err: (error: unknown) => (error instanceof Error ? error.stack : error) },
      },
      { write: (line: string) => void this.errors.push(line) },
    );
    const worker = makeWorker({
      tracing: null,
      queue: this.#isBusy
        ? withLocks(this.#leases.queueOf(id), this.clock, this.#random)
        : this.#leases.queueOf(id),
      presence,
      slots: this.#slots.storeOf(id, { clock, stillInFlight: async (given) => this.#leased(given) }),
      clock,
      targets: this.#isBusy
        ? new SlowTargets(this.clock, this.#random, (endpointId) => this.#targetOf(endpointId))
        : {
            fresh: (key) => this.#targetOf(key.endpointId),
            get: async () => null,
            forget: () => undefined,
          },
      sender: { send: (request) => this.#send(request, { id, presence, clock }) },
      health: { observe: async () => false },
      blockedTarget: () => undefined,
      outbox: { relay: async () => "all" },
      artifacts: { choose: () => null },
      scheduleMs: [0, 5000, 300_000, 1_800_000],
      log,
      metrics: { ...makeMetrics(), watchLanes: (lanes) => void (this.#lanes = lanes) },
    });
    this.#leases.watchFrom({ presence, clock, log });
    this.#slots.listeners.add(() => clock.after(0, () => worker.slotsChanged()));
    return { id, worker, presence, clock };
  }

  #leased(attempts: readonly InFlight[]): InFlight[] {
    return attempts.filter(({ id, leaseId }) => this.queue.rows.get(id)?.leaseId === leaseId);
  }

  #targetOf(endpointId: EndpointId): SendTarget {
    const endpoint = this.#byId.get(endpointId);
    assert.ok(endpoint !== undefined);
    return {
      tenantId: endpoint.tenantId,
      endpointId,
      url: urlOf(endpointId),
      events: ["*"],
      enabled: true,
      mode: "push",
      temporaryUntil: null,
      rateLimit: endpoint.rateLimit ?? null,
      headers: {},
      masked: new Set(),
      failingSince: null,
      keeps: null,
      signingKeys: [SIGNING_KEY],
    };
  }

  async #send(
    request: SendRequest,
    { id: workerId, presence, clock }: Omit<SimulatedWorker, "worker">,
  ): Promise<SendOutcome> {
    const endpoint = this.#byUrl.get(request.url);
    assert.ok(endpoint !== undefined);
    this.#check(presence.isConfirmed(), "an attempt starts while nobody can see the worker");
    this.#noteStart(endpoint, request, workerId);
    const { afterMs, status } = endpoint.behaviour({ nowMs: this.clock.nowMs(), random: this.#random });
    await this.clock.wait(Math.min(afterMs, TIME_LIMIT_MS));
    endpoint.inFlight--;
    this.#sending.delete(request.headers["X-Service-Delivery"] ?? "");
    // What a process that stands still or is gone does not read.
    await sleep(clock, 0);
    return status === null
      ? { kind: "failed", error: "timeout", latencyMs: TIME_LIMIT_MS }
      : { kind: "answered", status, headers: {}, body: "", latencyMs: afterMs };
  }

  #noteStart(endpoint: Known, { headers }: SendRequest, workerId: string): void {
    const nowMs = this.clock.nowMs();
    const deliveryId = headers["X-Service-Delivery"] ?? "";
    this.#check(!this.#sending.has(deliveryId), "an attempt runs twice at once");
    this.#sending.add(deliveryId);
    this.#attempts++;
    endpoint.inFlight++;
    this.#check(endpoint.inFlight <= MOST_WIDTH, "an endpoint has too many attempts in flight");
    this.#mostInFlight = Math.max(this.#mostInFlight, this.#lanes.inFlight);
    this.#mostWeight = Math.max(this.#mostWeight, this.#lanes.weight);
    const id = parseDeliveryId(deliveryId);
    const row = id === null ? undefined : this.queue.rows.get(id);
    this.#check(
      row?.leaseId != null && row.claimableMs - nowMs >= TIME_LIMIT_MS,
      "an attempt starts without a lease that outlasts it",
    );
    this.#starts.push({ tenant: endpoint.tenant, workerId, atMs: nowMs });
    this.#keepsRate(endpoint, nowMs);
    if (row?.attempt === 1) this.order.started(endpoint.id, row.eventId, nowMs);
  }

  #keepsRate({ rateLimit, starts }: Known, nowMs: number): void {
    if (rateLimit === undefined) return;
    starts.push(nowMs);
    const inSecond = starts.filter((atMs) => atMs > nowMs - 1000);
    starts.splice(0, starts.length - inSecond.length);
    // A process that is taken off its core between its turn and its request sends that so much later.
    const late = this.#isBusy ? Math.ceil((PAUSE_MS * rateLimit) / 1000) : 0;
    const most = rateLimit + Math.max(1, rateLimit / 10) + late;
    this.#check(inSecond.length <= most, "a rate limit is exceeded");
  }

  #check(holds: boolean, otherwise: string): void {
    if (!holds) this.errors.push(otherwise);
  }
}

const SIGNING_KEY = makeSigningKey("whsec_MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA=");

function urlOf(endpointId: EndpointId): string {
  return `https://example.com/${endpointId}`;
}
