/** Leases: no attempt runs twice at once, and none is lost with the worker that held it. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { SenderLimits } from "../src/outbound/send.ts";
import type { CompletedAttempt, DispatchQueue, LeasedDispatch } from "../src/queue/queue.ts";
import { createEndpoint, listDeliveries, publish, wholeLog } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { openTestQueue } from "./support/test-queue.ts";
import {
  startReceiver,
  type Answer,
  type ReceivedRequest,
  type TlsReceiver,
} from "./support/tls-receiver.ts";

let database: TestDatabase;
let receiver: TlsReceiver;
let api: TestService;
let workers: TestService[] = [];
let answer: (request: ReceivedRequest) => Answer | Promise<Answer> = () => ({});

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver({ respond: (request) => answer(request) });
  api = await startTestService({ database, receiver, roles: ["api"] });
});
afterEach(async () => {
  answer = () => ({});
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
});
after(async () => {
  await api.stop();
  await receiver.close();
  await database.drop();
});

/** Shares the API's secrets, and so the endpoints' own. */
async function startWorker(senderLimits: Partial<SenderLimits> = {}): Promise<TestService> {
  const worker = await startTestService({
    database,
    receiver,
    roles: ["worker"],
    env: api.env,
    senderLimits,
  });
  workers.push(worker);
  return worker;
}

function attemptsOf(eventId: string): ReceivedRequest[] {
  return receiver.requests.filter((request) => request.headers["webhook-id"] === eventId);
}

/** A lease's name begins with its process's. */
async function leaseOwners(): Promise<Set<unknown>> {
  const { rows } = await database.pool.query(
    "SELECT DISTINCT left(lease_owner::text, 18) AS owner FROM postern.dispatches WHERE lease_owner IS NOT NULL",
  );
  return new Set(rows.map((row) => row.owner));
}

describe("two workers on one database", () => {
  it("share the attempts, and make each of them once", async () => {
    // So many that each worker has some of them in its slots: of six, one worker had all in one run of thirty.
    const urls = Array.from({ length: 14 }, (_, n) => `${receiver.url}/${n}`);
    const endpoints = await Promise.all(
      urls.map((url) => createEndpoint(api, { url, events: ["invoice.paid"] })),
    );
    const gate = Promise.withResolvers<void>();
    answer = async () => {
      await gate.promise;
      return {};
    };
    // On a busy machine the gate is closed for long and so many connections begin slowly. An attempt that runs out of time is made again.
    const patient = { attemptTimeoutMs: 40_000, connectTimeoutMs: 40_000 };
    await Promise.all([startWorker(patient), startWorker(patient)]);
    const owners = new Set<unknown>();
    let batch = 0;
    for (; batch < 4 || owners.size < 2; batch++) {
      const events = Array.from({ length: 30 }, (_, n) => ({ type: "invoice.paid", data: { batch, n } }));
      const accepted = await api.call("POST", "/api/events", { as: PRODUCER, json: events });
      assert.equal(accepted.status, 202, accepted.text);
      for (const owner of await leaseOwners()) owners.add(owner);
      if (owners.size === 2) gate.resolve();
    }
    const logs = await eventually(async () => {
      const read = await Promise.all(endpoints.map(({ endpoint }) => wholeLog(api, endpoint.id)));
      return read.flat().every(({ status }) => status !== "pending") && read;
    });
    assert.deepEqual(
      logs.map((log) => log.length),
      urls.map(() => batch * 30),
    );
    assert.ok(logs.flat().every(({ status, attempt }) => status === "delivered" && attempt === 1));
    const sent = receiver.requests.map(
      (request) => `${request.path} ${String(request.headers["webhook-id"])}`,
    );
    assert.equal(sent.length, urls.length * batch * 30);
    assert.equal(new Set(sent).size, sent.length);
    assert.equal(owners.size, 2);
  });
});

describe("a lease that has run out", () => {
  it("passes to another worker, and the first one's late outcome makes no second row", async () => {
    const { endpoint } = await createEndpoint(api, {
      url: `${receiver.url}/late`,
      events: ["payment.failed"],
    });
    const late = Promise.withResolvers<void>();
    answer = async (request) => {
      if (attemptsOf(String(request.headers["webhook-id"])).length > 1) return { body: "second" };
      await late.promise;
      return { status: 500, body: "first" };
    };
    const first = await startWorker();
    const event = await publish(api, "payment.failed");
    await eventually(async () => attemptsOf(event.id).length === 1);
    // From here on it claims nothing more, so that the lease passes to the other one for certain.
    const stopped = first.stop();
    workers = workers.filter((worker) => worker !== first);
    await startWorker();
    const { rows: expired } = await database.pool.query(
      "UPDATE postern.dispatches SET claimable_at = now() WHERE event_id = $1 RETURNING id",
      [event.id],
    );
    assert.equal(expired.length, 1);
    await eventually(async () => attemptsOf(event.id).length === 2);
    const [delivered] = await eventually(async () => {
      const log = await listDeliveries(api, endpoint.id, `?event_id=${event.id}&status=delivered`);
      return log.length > 0 && log;
    });
    assert.equal(delivered?.id, String(expired[0]?.id));

    late.resolve();
    // A stop waits for what is in flight: the late outcome has been offered by then.
    await stopped;
    const { rows } = await database.pool.query(
      "SELECT id, status, response_body FROM postern.deliveries WHERE event_id = $1",
      [event.id],
    );
    assert.deepEqual(rows, [{ id: delivered?.id, status: "delivered", response_body: "second" }]);
    const { rows: pending } = await database.pool.query(
      "SELECT id FROM postern.dispatches WHERE event_id = $1",
      [event.id],
    );
    assert.deepEqual(pending, []);
  });
});

function outcomeOf(dispatch: LeasedDispatch, responseBody: string): CompletedAttempt {
  return {
    dispatch,
    status: "delivered",
    sentAt: new Date(),
    requestHeaders: {},
    responseStatus: 200,
    responseHeaders: {},
    responseBody,
    latencyMs: 1,
    error: null,
    nextDelayMs: null,
    exhausted: false,
    toKeep: null,
  };
}

describe("a lease that ran out and was claimed again by the same process", () => {
  let queue: DispatchQueue;
  let eventId: string;

  /** Claimed, let run out as in an outage, and claimed again. */
  async function claimTwice(): Promise<[LeasedDispatch, LeasedDispatch]> {
    queue = openTestQueue(database.pool);
    await createEndpoint(api, { url: `${receiver.url}/again`, events: ["document.signed"] });
    eventId = (await publish(api, "document.signed")).id;
    const claim = async () => {
      const claimed = (await queue.claim({ dispatches: 100, bodyBytes: 1e6 }, [])).claimed.find(
        (dispatch) => dispatch.eventId === eventId,
      );
      assert.ok(claimed !== undefined);
      return claimed;
    };
    const earlier = await claim();
    await database.pool.query("UPDATE postern.dispatches SET claimable_at = now() WHERE event_id = $1", [
      eventId,
    ]);
    return [earlier, await claim()];
  }

  it("is completed by the later claim's attempt, not by the earlier one's", async () => {
    const [earlier, later] = await claimTwice();
    assert.deepEqual(await queue.complete([outcomeOf(earlier, "earlier")], "wait"), new Set());
    // Both in one batch: each with its own lease.
    const outcomes = [outcomeOf(earlier, "earlier"), outcomeOf(later, "later")];
    assert.deepEqual(await queue.complete(outcomes, "wait"), new Set([later.id]));
    const { rows } = await database.pool.query(
      "SELECT response_body FROM postern.deliveries WHERE event_id = $1",
      [eventId],
    );
    assert.deepEqual(rows, [{ response_body: "later" }]);
  });

  it("is not given back or held by the earlier claim", async () => {
    const [earlier, later] = await claimTwice();
    await queue.release([earlier], "claimable");
    await queue.release([earlier], "parked");
    await queue.hold([earlier], "wait");
    assert.deepEqual(await queue.complete([outcomeOf(later, "later")], "wait"), new Set([later.id]));
  });
});

describe("a claim", () => {
  it("takes no more bytes of bodies than it is allowed, but one body however large, the longest due first", async () => {
    const queue = openTestQueue(database.pool);
    await database.pool.query("DELETE FROM postern.dispatches");
    await createEndpoint(api, { url: `${receiver.url}/large`, events: ["document.uploaded"] });
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.push((await publish(api, "document.uploaded", { data: { text: "x".repeat(400_000) } })).id);
    }
    const limits = { dispatches: 10, bodyBytes: 1_000_000 };
    const takes: string[][] = [];
    for (let isAll = false; !isAll;) {
      const taken = await queue.claim(limits, []);
      ({ isAll } = taken);
      takes.push(taken.claimed.map(({ eventId }) => eventId).toSorted());
    }
    assert.deepEqual(takes, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    await database.pool.query("UPDATE postern.dispatches SET claimable_at = now()");
    const one = await queue.claim({ dispatches: 10, bodyBytes: 10 }, []);
    assert.deepEqual([one.claimed.length, one.isAll], [1, false]);
  });

  it("ends a dispatch whose event is gone, visibly and once, and goes on to the others", async () => {
    await database.pool.query("DELETE FROM postern.dispatches");
    const { endpoint } = await createEndpoint(api, {
      url: `${receiver.url}/gone`,
      events: ["payment.refunded"],
    });
    await database.pool.query(
      `INSERT INTO postern.dispatches
          (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
        SELECT 'acme', $1, postern.uuid_v7(), gen_random_uuid(), 'payment.refunded', 1, now(), now() - interval '1 hour'
        FROM generate_series(1, 600)`,
      [endpoint.id],
    );
    const { id } = await publish(api, "payment.refunded");
    await startWorker();
    await eventually(
      async () => (await listDeliveries(api, endpoint.id, "?status=delivered"))[0]?.event_id === id,
    );
    await eventually(async () => (await listDeliveries(api, endpoint.id, "?status=pending")).length === 0);
    const failed = (await wholeLog(api, endpoint.id)).filter(({ status }) => status === "failed");
    assert.equal(failed.length, 600);
    assert.deepEqual([failed[0]?.response_status, failed[0]?.request_body], [null, null]);
  });
});
