/** A person's test or retry at a pull endpoint: what becomes of it, and what its person is told. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { noticesOf } from "../../test/support/notices.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { BODY, EVENT_TYPE, tenant } from "../../test/support/two-tenants.ts";
import { targetOf } from "../../test/support/worker-at-hand.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import { sign } from "../outbound/signature.ts";
import { FETCH_CHANNEL } from "../queue/channels.ts";
import { FetchWaits, type FetchWatch } from "../queue/fetch-waits.ts";
import { newDeliveryId, newEventId } from "../shared/id.ts";
import { VERSION } from "../shared/version.ts";
import { makeLog } from "../telemetry/log.ts";
import type { FetchedSend } from "./person-offer-store.ts";
import { ackOffers, fetchedHeaders, leaseOffers, noteOfferHeaders, offerToClients } from "./person-offers.ts";
import { insertPersonSend, type PersonSend } from "./person-send-store.ts";

const NOT_FETCHED = {
  sentAt: null,
  requestHeaders: {},
  refusal: null,
  isDelivered: false,
  error: "timeout",
} as const;
/** Nobody waits so long. */
const LONG_MS = 60_000;

/** Tells how many waits have ended. */
class CountedWaits extends FetchWaits {
  ended = 0;

  override watch(key: string): FetchWatch {
    const watch = super.watch(key);
    const end = (): void => {
      this.ended++;
      watch.end();
    };
    return { ...watch, end };
  }
}

let database: TestDatabase;
let tenants: TenantPool;
let waits: CountedWaits;
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 2);
  waits = new CountedWaits({ databaseUrl: database.url, log: makeLog("silent") });
});
after(async () => {
  await waits.close();
  await tenants.end();
  await database.drop();
});

describe("what a person sends to a pull endpoint", () => {
  let send: PersonSend;
  const leaseId = randomUUID();

  beforeEach(async () => {
    const { id: endpointId } = await insertEndpoint(database.pool, newEndpoint({ tenantId: tenant("acme") }));
    send = {
      tenantId: tenant("acme"),
      endpointId,
      id: newDeliveryId(),
      eventId: newEventId(),
      testId: null,
      eventType: EVENT_TYPE,
      version: 1,
      trigger: "retry",
      attempt: 2,
      requestBody: BODY,
      requestHeaders: {},
    };
  });

  const offer = (attemptTimeoutMs: number) =>
    offerToClients({ tenants, waits, attemptTimeoutMs }, send, "a label");

  const lease = () => leaseOffers(database.pool, send, leaseId, { sends: 10, bodyBytes: 1e6 });

  async function fetch(): Promise<FetchedSend> {
    let fetched: FetchedSend[] = [];
    await eventually(async () => (fetched = await lease()).length === 1);
    return fetched[0] ?? assert.fail();
  }

  it("is not waited for where it cannot be stored", async () => {
    const { ended } = waits;
    await insertPersonSend(database.pool, send);
    await assert.rejects(offer(LONG_MS), { code: "23505" });
    assert.equal(waits.ended, ended + 1);
  });

  for (const refusal of [null, "not for us"]) {
    it(`is ${refusal === null ? "delivered" : "refused"} as the client that fetched it says, and took as long as that`, async () => {
      const offered = offer(LONG_MS);
      const { leasedAt, deliveryLabel, body } = await fetch();
      assert.deepEqual([deliveryLabel, body], ["a label", BODY]);
      const requestHeaders = { "X-Service-Event": EVENT_TYPE };
      await noteOfferHeaders(database.pool, send, requestHeaders);
      await database.pool.query("UPDATE person_sends SET leased_at = leased_at - interval '3 s'");
      await ackOffers(database.pool, send, leaseId, [{ id: send.id, refusal }]);
      const { latencyMs, sentAt, ...outcome } = await offered;
      const isDelivered = refusal === null;
      const error = isDelivered ? null : "refused";
      assert.deepEqual(outcome, { requestHeaders, refusal, isDelivered, error });
      assert.equal(sentAt?.getTime(), leasedAt.getTime() - 3000);
      const { rows } = await database.pool.query<{ acked: Date }>(
        "SELECT acked_at AS acked FROM person_sends WHERE id = $1",
        [send.id],
      );
      assert.equal(sentAt.getTime() + latencyMs, rows[0]?.acked.getTime());
    });
  }

  it("is told to the clients that wait at its endpoint, and its outcome to its person", async () => {
    let offered: Promise<unknown> | undefined;
    const heard = await noticesOf(database.pool, async () => {
      offered = offer(LONG_MS);
      await fetch();
    });
    assert.deepEqual(heard, [[FETCH_CHANNEL, send.endpointId]]);
    const ack = () => ackOffers(database.pool, send, leaseId, [{ id: send.id, refusal: null }]);
    const told = [await noticesOf(database.pool, ack), await noticesOf(database.pool, ack)];
    // Who is not told waits for as long as an attempt takes.
    await database.pool.query("SELECT pg_notify($1, $2)", [FETCH_CHANNEL, send.id]);
    await offered;
    assert.deepEqual(told, [[[FETCH_CHANNEL, send.id]], []]);
  });

  it("is over after the time of an attempt where nobody fetches it, and then nobody can", async () => {
    const { ended } = waits;
    assert.deepEqual(await offer(1), { ...NOT_FETCHED, latencyMs: 1 });
    assert.equal(waits.ended, ended + 1);
    assert.deepEqual(await lease(), []);
  });

  it("is over after the time of an attempt where its client says nothing, which it can't any more", async () => {
    const offered = offer(3000);
    const { leasedAt } = await fetch();
    assert.deepEqual(await offered, { ...NOT_FETCHED, sentAt: leasedAt, latencyMs: 3000 });
    const acked = await ackOffers(database.pool, send, leaseId, [{ id: send.id, refusal: null }]);
    assert.equal(acked.size, 0);
  });

  // Without the notification it would be over too, after LONG_MS.
  it("is over for its person once it was ended as interrupted", { timeout: LONG_MS / 2 }, async () => {
    const offered = offer(LONG_MS);
    await fetch();
    await database.pool.query("DELETE FROM person_sends WHERE id = $1", [send.id]);
    await database.pool.query("SELECT pg_notify($1, $2)", [FETCH_CHANNEL, send.id]);
    assert.deepEqual(await offered, { ...NOT_FETCHED, latencyMs: LONG_MS });
  });

  it("comes with the headers of a request, signed for the second in which it is fetched; the log masks some", () => {
    const target = {
      ...targetOf(send.endpointId),
      headers: { "X-Secret": "secret" },
      masked: new Set(["x-secret"]),
    };
    const webhookId = newEventId();
    const leasedAt = new Date(1_800_000_000_999);
    const { headers, logged } = fetchedHeaders(target, {
      eventType: EVENT_TYPE,
      deliveryLabel: "a label",
      webhookId,
      leasedAt,
      body: BODY,
    });
    const signatures = sign(target.signingKeys, { timestampSeconds: 1_800_000_000, webhookId, body: BODY });
    assert.partialDeepStrictEqual(headers, {
      "User-Agent": `Postern/${VERSION}`,
      "X-Service-Signature": signatures.serviceSignature,
      "X-Service-Timestamp": "1800000000",
      "X-Service-Event": EVENT_TYPE,
      "X-Service-Delivery": "a label",
      "webhook-id": webhookId,
      "webhook-signature": signatures.webhookSignature,
      "X-Secret": "secret",
    });
    assert.deepEqual(logged, { ...headers, "X-Secret": "[masked]" });
  });
});
