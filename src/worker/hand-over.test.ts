/** Slots that come from another worker and go to one, with the attempts that are in flight meanwhile. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { pino } from "pino";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { slotOf, type InFlight, type Slot } from "../queue/slots.ts";
import { newDeliveryId, parseEndpointId, type EndpointId, type EndpointKey } from "../shared/id.ts";
import { makeHandOver } from "./hand-over.ts";
import { Lanes, SHARES } from "./lanes.ts";
import type { SlotHolder } from "./slot-keeper.ts";

const tenantId = tenant("acme");
/** In the slots 1, 2 and 3. */
const [one, two, three] = [endpointIn(1), endpointIn(2), endpointIn(3)];

function endpointIn(slot: Slot): EndpointId {
  const id = parseEndpointId(`00000000-0000-7000-8000-${slot.toString(16).padStart(12, "0")}`);
  assert.ok(id !== null);
  return id;
}

const taken = (slot: Slot, ...inFlight: InFlight[]) => ({ slot, term: 1, inFlight });
const attemptAt = (endpointId: EndpointId): InFlight => ({
  tenantId,
  endpointId,
  id: newDeliveryId(),
  leaseId: "theirs",
});

const idsOf = (attempts: readonly { id: string }[]) => attempts.map(({ id }) => id);

/** Tells how many attempts of other workers each endpoint counts. */
class CountedLanes extends Lanes {
  readonly elsewhere = new Map<EndpointId, number>();

  override setElsewhere(endpoint: EndpointKey, count: number, nowMs: number): void {
    this.elsewhere.set(endpoint.endpointId, count);
    super.setElsewhere(endpoint, count, nowMs);
  }
}

describe("slots that are handed over", () => {
  let clock: VirtualClock;
  let lanes: CountedLanes;
  let stopping: AbortController;
  let holder: SlotHolder;
  let steps: string[];
  /** When others' attempts were asked for, and what is answered. */
  let askedAt: number[];
  let stillInFlight: (attempts: readonly InFlight[]) => Promise<InFlight[]>;
  let backlogs: EndpointKey[];
  let givenBack: LeasedDispatch[];
  let waitingForOlder: LeasedDispatch[];
  let logged: string[];

  beforeEach(() => {
    [clock, lanes, stopping] = [new VirtualClock(), new CountedLanes(SHARES), new AbortController()];
    [steps, askedAt, backlogs, givenBack, waitingForOlder, logged] = [[], [], [], [], [], []];
    stillInFlight = async (attempts) => [...attempts];
    const log = pino({ base: null }, { write: (line) => logged.push(line) });
    holder = makeHandOver({
      queue: { findBacklogs: async () => backlogs, findDue: async () => [one] },
      store: {
        stillInFlight: (attempts) => {
          askedAt.push(clock.nowMs());
          return stillInFlight(attempts);
        },
      },
      lanes,
      catchUp: {
        arrive: () => steps.push("arrive"),
        arrived: () => steps.push("arrived"),
        note: (endpoints) => steps.push(`note ${[...endpoints].join()}`),
        leave: () => waitingForOlder,
      },
      clock,
      log,
      giveBack: (dispatches) => givenBack.push(...dispatches),
      settled: async () => undefined,
      pump: () => steps.push("pump"),
      wake: () => steps.push("wake"),
      stopping: stopping.signal,
    });
  });

  function startAttempt(endpointId: EndpointId): LeasedDispatch {
    const dispatch = leasedDispatch({ endpointId });
    assert.ok(lanes.offer(dispatch, clock.nowMs()));
    assert.equal(lanes.next(clock.nowMs())?.kind, "start");
    return dispatch;
  }

  const leaveSlots = (...slots: Slot[]) => holder.leave((slot) => slots.includes(slot));

  it("bring what is due and what is parked in them, and nothing of others' slots", async () => {
    backlogs = [one, three].map((endpointId) => ({ tenantId, endpointId }));
    await holder.arrive([taken(1), taken(2)]);
    assert.equal(lanes.backlogs, 1);
    // In this order: what comes into the table during the look is noted too.
    assert.deepEqual(steps, ["arrive", `note ${one}`]);
    holder.ready();
    assert.deepEqual(steps.slice(2), ["arrived", "wake"]);
  });

  it("have their rate limits kept from when they arrive, as others may have started attempts just before", async () => {
    await clock.runUntil(5000);
    await holder.arrive([taken(1)]);
    assert.equal(lanes.keepRate(startAttempt(one), 1, clock.nowMs()), 1000);
    assert.equal(lanes.keepRate(startAttempt(two), 1, clock.nowMs()), 0);
  });

  it("count the former owner's attempts until they are over, and not this worker's own", async () => {
    const own = startAttempt(one);
    const theirs = [attemptAt(one), attemptAt(one), attemptAt(two)];
    const again = { ...attemptAt(one), id: own.id };
    await holder.arrive([taken(1, again, ...theirs.slice(0, 2)), taken(2, ...theirs.slice(2))]);
    assert.deepEqual(
      [...lanes.elsewhere],
      [
        [one, 2],
        [two, 1],
      ],
    );
    stillInFlight = async () => theirs.slice(1, 2);
    await clock.runUntil(500);
    assert.deepEqual(
      [...lanes.elsewhere],
      [
        [one, 1],
        [two, 0],
      ],
    );
    assert.deepEqual(steps.slice(-1), ["pump"]);
    stillInFlight = async () => [];
    await clock.runUntil(5000);
    assert.equal(lanes.elsewhere.get(one), 0);
    // No more than it needs.
    assert.deepEqual(askedAt, [500, 1000]);
  });

  it("are asked for once at a time, also for slots that come meanwhile", async () => {
    await holder.arrive([taken(1, attemptAt(one))]);
    await clock.runUntil(200);
    await holder.arrive([taken(2, attemptAt(two))]);
    await clock.runUntil(1200);
    assert.deepEqual(askedAt, [500, 1000]);
    assert.deepEqual([...lanes.elsewhere.values()], [1, 1]);
  });

  it("keep an attempt that came while the others were asked for", async () => {
    const [first, later] = [attemptAt(one), attemptAt(two)];
    const answer = Promise.withResolvers<InFlight[]>();
    stillInFlight = () => answer.promise;
    await holder.arrive([taken(1, first)]);
    await clock.runUntil(500);
    await holder.arrive([taken(2, later)]);
    answer.resolve([]);
    await clock.runUntil(600);
    assert.deepEqual(
      [...lanes.elsewhere],
      [
        [one, 0],
        [two, 1],
      ],
    );
  });

  it("are asked for again after an error, which is logged", async () => {
    stillInFlight = () => Promise.reject(new Error("the database is away"));
    await holder.arrive([taken(1, attemptAt(one))]);
    await clock.runUntil(600);
    assert.match(logged.join(""), /the database is away.*attempts of other workers could not be read/);
    assert.equal(lanes.elsewhere.get(one), 1);
    stillInFlight = async () => [];
    await clock.runUntil(1100);
    assert.equal(lanes.elsewhere.get(one), 0);
  });

  it("are not asked for by a worker that stops", async () => {
    await holder.arrive([taken(1, attemptAt(one))]);
    stopping.abort();
    await clock.runUntil(2000);
    await holder.arrive([taken(2, attemptAt(two))]);
    await clock.runUntil(4000);
    assert.deepEqual(askedAt, []);
  });

  it("go without what waits in them, as soon as their attempts are over", async () => {
    const [own, waiting, older] = [
      startAttempt(one),
      leasedDispatch({ endpointId: one }),
      leasedDispatch({ endpointId: one }),
    ];
    assert.ok(lanes.offer(waiting, clock.nowMs()));
    waitingForOlder = [older];
    const left = leaveSlots(1);
    clock.after(100, () => lanes.finished(own, false, clock.nowMs()));
    let leftAt = NaN;
    void left.then(() => (leftAt = clock.nowMs()));
    await clock.runUntil(1000);
    assert.deepEqual(await left, []);
    assert.equal(leftAt, 100);
    assert.deepEqual(idsOf(givenBack), idsOf([older, waiting]));
  });

  it("tell the next owner of attempts that last, this worker's and those it had heard of", async () => {
    const [own, kept] = [startAttempt(one), startAttempt(three)];
    const [theirs, elsewhere] = [attemptAt(one), attemptAt(two)];
    await holder.arrive([taken(1, { ...theirs, id: own.id }, theirs), taken(2, elsewhere)]);
    const left = leaveSlots(1);
    await clock.runUntil(10_000);
    const { id, leaseId } = own;
    assert.deepEqual(await left, [{ tenantId, endpointId: one, id, leaseId }, theirs]);
    assert.deepEqual(
      [...lanes.elsewhere],
      [
        [one, 0],
        [two, 1],
      ],
    );
    assert.deepEqual(idsOf(lanes.started((slot) => slot === slotOf(three))), [kept.id]);
  });

  it("leave within half a second, whatever lasts", async () => {
    startAttempt(one);
    let leftAt = NaN;
    void leaveSlots(1).then(() => (leftAt = clock.nowMs()));
    await clock.runUntil(2000);
    assert.equal(leftAt, 500);
  });
});
