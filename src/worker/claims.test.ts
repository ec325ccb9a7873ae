/** One look at the queue: what becomes of what it brings where the lanes, or the queue, have changed their mind. */
import assert from "node:assert/strict";
import { beforeEach, describe, it, type Mock } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import { newClaims, type GivenForClaims } from "../../test/support/new-claims.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { Claimed } from "../queue/queue.ts";
import { ALL_SLOTS, NO_SLOTS, slotOf, SlotSet } from "../queue/slots.ts";
import { newEndpointId, type EndpointKey } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { CatchUp } from "./catch-up.ts";
import type { ClaimsServices } from "./claims.ts";
import { Lanes, SHARES } from "./lanes.ts";

const key = { tenantId: tenant("acme"), endpointId: newEndpointId() };

/** In another slot. */
function keyElsewhere(): EndpointKey {
  let other = { ...key, endpointId: newEndpointId() };
  while (slotOf(other.endpointId) === slotOf(key.endpointId)) other = { ...key, endpointId: newEndpointId() };
  return other;
}

const outOfReach = () => Promise.reject(new Error("out of reach"));

/** One look. */
async function look(given: GivenForClaims, queue: Partial<ClaimsServices["queue"]>) {
  const { claims, went } = newClaims(given, queue);
  claims.start();
  await claims.underWay();
  await claims.stop();
  return went;
}

it("offers what was pulled for a lane whose slot was left meanwhile to whoever takes it, and keeps none in memory", async () => {
  const lanes = new Lanes(SHARES);
  lanes.foundBacklog(key, 0);
  const dispatch = leasedDispatch(key);
  const pull = async () => {
    lanes.leave(() => true, 0);
    return new Map([[key.endpointId, { claimed: [dispatch], withoutEvent: [], isAll: true }]]);
  };
  const went = await look({ lanes, catchUp: new CatchUp() }, { pull });
  assert.deepEqual(went, { taken: [dispatch], parked: [], without: [] });
});

it("passes pulled dispatches on whose event is gone", async () => {
  const lanes = new Lanes(SHARES);
  lanes.foundBacklog(key, 0);
  const dispatch = leasedDispatch(key);
  const pull = async () =>
    new Map([[key.endpointId, { claimed: [], withoutEvent: [dispatch], isAll: true }]]);
  const went = await look({ lanes, catchUp: new CatchUp() }, { pull });
  assert.deepEqual(went, { taken: [], parked: [], without: [dispatch] });
});

it("parks what waits for a look that fails, since older ones may still be in the table", async () => {
  const catchUp = new CatchUp();
  catchUp.note([key.endpointId], ALL_SLOTS);
  const dispatch = leasedDispatch(key);
  catchUp.enter([dispatch]);
  const went = await look({ lanes: new Lanes(SHARES), catchUp }, { claim: outOfReach });
  assert.deepEqual(went, { taken: [], parked: [dispatch], without: [] });
});

const NOTHING: Claimed = { claimed: [], withoutEvent: [], isAll: true };

describe("looks at the queue", () => {
  let clock: VirtualClock;
  let lanes: Lanes;
  let catchUp: CatchUp;
  let lookedAt: number[];

  beforeEach(() => {
    [clock, lanes, catchUp, lookedAt] = [new VirtualClock(), new Lanes(SHARES), new CatchUp(), []];
  });

  /** When it looked within a while, where each look finds this, and the later ones nothing. */
  async function looksUntil(endMs: number, found: Claimed[] = [], given: Partial<GivenForClaims> = {}) {
    const claim = async () => {
      lookedAt.push(clock.nowMs());
      return found.shift() ?? NOTHING;
    };
    const { claims, went } = newClaims({ lanes, catchUp, clock, ...given }, { claim });
    claims.start();
    await clock.runUntil(endMs);
    return { claims, went };
  }

  it("follow at once while more is due, soon after some was, and else five times a second", async () => {
    const due = (isAll: boolean): Claimed => ({ ...NOTHING, claimed: [leasedDispatch()], isAll });
    const gone = { ...NOTHING, withoutEvent: [leasedDispatch()] };
    const { claims, went } = await looksUntil(500, [due(false), due(true), gone]);
    assert.deepEqual(lookedAt, [0, 0, 50, 250, 450]);
    assert.deepEqual([went.taken.length, went.without], [2, gone.withoutEvent]);
    assert.equal(claims.lastLookAt(), 450);
    await claims.stop();
    await clock.runUntil(2000);
    assert.equal(lookedAt.length, 5);
  });

  it("follow at once after a notification, once for each", async () => {
    const { claims } = await looksUntil(100);
    claims.wake();
    await clock.runUntil(350);
    assert.deepEqual(lookedAt, [0, 100, 300]);
    claims.start();
    await clock.runUntil(600);
    assert.deepEqual(lookedAt, [0, 100, 300, 500], "one after the other, however often it is started");
    await claims.stop();
  });

  it("follow one whose claim was under way as a notification came", async () => {
    const claimed = Promise.withResolvers<Claimed>();
    const claim = () => {
      lookedAt.push(clock.nowMs());
      return lookedAt.length === 1 ? claimed.promise : Promise.resolve(NOTHING);
    };
    const { claims } = newClaims({ lanes, catchUp, clock }, { claim });
    claims.start();
    await clock.runUntil(100);
    claims.wake();
    let isOver = false;
    void claims.underWay().then(() => (isOver = true));
    await clock.runUntil(120);
    assert.equal(isOver, false);
    claimed.resolve(NOTHING);
    await clock.runUntil(130);
    assert.deepEqual([lookedAt, isOver], [[0, 120], true]);
    await claims.stop();
  });

  it("follow at once while more waits in the outbox", async () => {
    const answers: ("all" | "more")[] = ["more", "more"];
    const outbox = { relay: async () => answers.shift() ?? "all" };
    const { claims } = await looksUntil(250, [], { outbox });
    assert.deepEqual(lookedAt, [0, 0, 0, 200]);
    await claims.stop();
  });

  it("claim although the outbox can't be relayed, which is told", async (test) => {
    const log = makeLog("silent");
    const warn = test.mock.method(log, "warn", () => undefined);
    const { claims } = await looksUntil(100, [], { outbox: { relay: outOfReach }, log });
    assert.deepEqual(lookedAt, [0]);
    assert.deepEqual(told(warn), ["out of reach"]);
    await claims.stop();
  });

  it("go on after one that failed, which is told and is no sign of life", async (test) => {
    const log = makeLog("silent");
    const warn = test.mock.method(log, "warn", () => undefined);
    let tried = 0;
    const claim = () => {
      tried++;
      return outOfReach();
    };
    const { claims } = newClaims({ lanes, catchUp, clock, log }, { claim });
    await clock.runUntil(1000);
    claims.start();
    await clock.runUntil(1450);
    assert.deepEqual([tried, told(warn)], [3, ["out of reach"]]);
    assert.equal(claims.lastLookAt(), 0);
    await claims.stop();
  });

  it("claim nothing while the worker is not confirmed, or has no slots, or no room", async () => {
    let isConfirmed = false;
    const { claims, went } = await looksUntil(350, [], { isConfirmed: () => isConfirmed });
    assert.deepEqual([lookedAt, claims.lastLookAt()], [[], 0]);
    isConfirmed = true;
    await clock.runUntil(450);
    assert.deepEqual(lookedAt, [400]);
    await claims.stop();

    const idle = await looksUntil(1000, [], { slots: { owned: () => NO_SLOTS } });
    assert.deepEqual([lookedAt, idle.claims.lastLookAt()], [[400], 850]);
    await idle.claims.stop();

    catchUp.note([key.endpointId], ALL_SLOTS);
    const waiting = leasedDispatch(key);
    catchUp.enter([waiting]);
    const full = await looksUntil(1100, [], { lanes: new Lanes({ ...SHARES, weight: 0 }) });
    assert.deepEqual([lookedAt, full.claims.lastLookAt(), full.went.parked], [[400], 1000, [waiting]]);
    await full.claims.stop();
    assert.deepEqual(went.parked, []);
  });

  it("park what waits for older ones when they left some, and let it enter when they found all", async () => {
    const waiting = [leasedDispatch(key), leasedDispatch(key)];
    for (const [place, isAll] of [false, true].entries()) {
      catchUp.note([key.endpointId], ALL_SLOTS);
      catchUp.enter(waiting.slice(place, place + 1));
      const { claims, went } = await looksUntil(10 * (place + 1), [{ ...NOTHING, isAll }]);
      const [first, second] = isAll ? [[], waiting.slice(1)] : [waiting.slice(0, 1), []];
      assert.deepEqual([went.parked, went.taken], [first, second]);
      await claims.stop();
    }
  });

  it("claim up to 500 dispatches of 8 MiB in the worker's slots, of no backlogged endpoint", async () => {
    const [own, foreign] = [new SlotSet([slotOf(key.endpointId)]), keyElsewhere()];
    lanes.foundBacklog(key, 0);
    lanes.foundBacklog(foreign, 0);
    const asked: unknown[] = [];
    const claim = async (...what: unknown[]) => {
      asked.push(what);
      return NOTHING;
    };
    await look({ lanes, catchUp, slots: { owned: () => own } }, { claim });
    assert.deepEqual(asked, [[{ dispatches: 500, bodyBytes: 8_388_608 }, [key.endpointId], own]]);
  });

  it("find unknown backlogs once a second, in the worker's slots", async () => {
    const searchedAt: number[] = [];
    const foreign = keyElsewhere();
    const findBacklogs = async () => {
      searchedAt.push(clock.nowMs());
      return [key, foreign];
    };
    const slots = { owned: () => new SlotSet([slotOf(key.endpointId)]) };
    const { claims } = newClaims({ lanes, catchUp, clock, slots }, { findBacklogs });
    await clock.runUntil(400);
    claims.start();
    await clock.runUntil(2500);
    assert.deepEqual(searchedAt, [400, 1400, 2400]);
    assert.deepEqual(lanes.backlogged(ALL_SLOTS), [key.endpointId]);
    await claims.stop();
  });
});

describe("what backlogged lanes pull", () => {
  let clock: VirtualClock;
  let lanes: Lanes;
  let catchUp: CatchUp;
  let pulledAt: number[];
  let steps: string[];

  beforeEach(() => {
    [clock, lanes, catchUp] = [new VirtualClock(), new Lanes(SHARES), new CatchUp()];
    [pulledAt, steps] = [[], []];
  });

  type Answer = Partial<Claimed> & { isParked?: boolean };

  /** When it pulled, where the pulls of the lane that has a backlog find this, and then nothing more. */
  async function pullsUntil(
    endMs: number,
    answers: Answer[],
    queue: Partial<Pick<ClaimsServices["queue"], "claim">> = {},
  ) {
    let answer: Answer | undefined;
    const { claims, went } = newClaims(
      { lanes, catchUp, clock, pulled: () => steps.push("pulled") },
      {
        park: async (endpoints) => {
          answer = answers.shift();
          steps.push(`park ${endpoints.length}`);
          return answer?.isParked ?? true;
        },
        parkOldest: async (endpoints) => void steps.push(`oldest ${endpoints.length}`),
        pull: async (asks) => {
          pulledAt.push(clock.nowMs());
          steps.push(`pull ${asks.length}`);
          return new Map([[key.endpointId, { ...NOTHING, ...answer }]]);
        },
        ...queue,
      },
    );
    claims.start();
    await clock.runUntil(endMs);
    await claims.stop();
    return went;
  }

  it("is parked before, and starts at once; an open lane pulls nothing", async () => {
    lanes.foundBacklog(key, 0);
    const dispatch = leasedDispatch(key);
    const went = await pullsUntil(450, [{ claimed: [dispatch] }]);
    assert.deepEqual(steps, ["park 1", "pull 1", "pulled"]);
    assert.deepEqual(lanes.next(0), { kind: "start", dispatch });
    assert.deepEqual([went.taken, lanes.backlogs], [[], 0]);
  });

  it("is all there is only once all that is due is parked, and where the answer says so", async () => {
    lanes.foundBacklog(key, 0);
    await pullsUntil(10, [{ isParked: false }, { isAll: false }]);
    assert.deepEqual([pulledAt, lanes.backlogs], [[0, 0], 1]);
    await pullsUntil(20, [{}]);
    assert.equal(lanes.backlogs, 0);
  });

  it("is followed soon by a look where some came, and else in time", async () => {
    lanes.foundBacklog(key, 0);
    const one = (): Answer => ({ claimed: [leasedDispatch(key)], isAll: false });
    await pullsUntil(240, [one(), one(), { isAll: false }]);
    assert.deepEqual(pulledAt, [0, 50, 100]);
  });

  it("is followed at once by a look while some due ones are not parked, whatever was claimed before", async () => {
    lanes.foundBacklog(key, 0);
    const claimed = [leasedDispatch()];
    await pullsUntil(40, [{ isParked: false }, {}], { claim: async () => ({ ...NOTHING, claimed }) });
    assert.deepEqual(pulledAt, [0, 0]);
  });

  it("is not asked for while no lane wants any", async () => {
    const refused = leasedDispatch(key);
    lanes.foundBacklog(key, 0);
    assert.equal(lanes.offer(refused, 0), false);
    await pullsUntil(10, []);
    assert.deepEqual(steps, ["park 1"]);
  });

  it("is followed at once by a look after 500 in one", async () => {
    lanes.foundBacklog(key, 0);
    const of = (length: number): Answer => ({
      claimed: Array.from({ length }, () => leasedDispatch(key)),
      isAll: false,
    });
    const isEnough = async (length: number) => {
      lanes = new Lanes(SHARES);
      lanes.foundBacklog(key, 0);
      steps = [];
      await pullsUntil(clock.nowMs() + 49, [of(length)]);
      return steps.filter((step) => step.startsWith("park")).length;
    };
    assert.equal(await isEnough(499), 1);
    assert.equal(await isEnough(500), 2);
  });

  it("comes behind older ones that wait here", async () => {
    lanes.foundBacklog(key, 0);
    catchUp.note([key.endpointId], ALL_SLOTS);
    const [older, younger] = [leasedDispatch(key), leasedDispatch(key)];
    // It waits for a look that begins later than this one.
    const park = async () => {
      catchUp.note([key.endpointId], ALL_SLOTS);
      catchUp.enter([older]);
      return true;
    };
    const pull = async () => new Map([[key.endpointId, { ...NOTHING, claimed: [younger] }]]);
    await look({ lanes, catchUp }, { park, pull });
    assert.deepEqual(lanes.next(0), { kind: "start", dispatch: older });
    assert.deepEqual(lanes.next(0), { kind: "start", dispatch: younger });
  });

  it("comes after the oldest of endpoints that were given up were parked, each time anew", async () => {
    lanes.foundBacklog(key, 0);
    const others = [leasedDispatch(), leasedDispatch()];
    for (const { endpointId } of others) catchUp.note([endpointId], ALL_SLOTS);
    catchUp.enter(others);
    catchUp.leftSome(catchUp.lookBegins());
    await pullsUntil(10, [{}]);
    assert.deepEqual(steps, ["park 1", "oldest 2", "pull 1", "pulled"]);
    assert.deepEqual(catchUp.givenUp(), []);
  });

  it("is asked for again where the queue fails, which is told", async (test) => {
    const log = makeLog("silent");
    const warn = test.mock.method(log, "warn", () => undefined);
    lanes.foundBacklog(key, 0);
    const went = await look({ lanes, catchUp, log }, { pull: outOfReach });
    assert.deepEqual(went, { taken: [], parked: [], without: [] });
    assert.deepEqual([told(warn), lanes.backlogs], [["out of reach"], 1]);
    await pullsUntil(10, [{}]);
    assert.deepEqual([pulledAt, lanes.backlogs], [[0], 0]);
  });

  it("is none of slots that this worker has not", async () => {
    lanes.foundBacklog(key, 0);
    let isParked = false;
    const park = async () => (isParked = true);
    await look({ lanes, catchUp, slots: { owned: () => NO_SLOTS } }, { park });
    assert.equal(isParked, false);
  });
});

/** The errors that were told. */
function told(warn: Mock<(...told: unknown[]) => void>): string[] {
  return warn.mock.calls.map(({ arguments: [fields] }) =>
    fields instanceof Object && "err" in fields && fields.err instanceof Error ? fields.err.message : "",
  );
}
