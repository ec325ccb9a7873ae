/**
 * What the demonstration begins with, once: four endpoints, a week of their log,
 * an export, and what the audit log says of it. Endpoints, test and export are
 * made through the API, as a user would.
 */
import * as z from "zod";
import { createPool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { buildRequestHeaders } from "../outbound/request-headers.ts";
import { makeSigningKey, type SigningKey } from "../outbound/signature.ts";
import { parseEndpointId, type EndpointId, type TenantId } from "../shared/id.ts";
import { VERSION } from "../shared/version.ts";
import type { CallApi } from "./demo-api.ts";
import { hasEndpoints, insertWeek, makePartitionsOfWeek } from "./week-store.ts";
import { BEHAVIOURS, groupOf, makeWeek, type Behaviour, type Sample, type WeekAttempt } from "./week.ts";

/** The endpoint of each behaviour takes the types that begin with one of its prefixes. */
export type Shares = Readonly<Record<Behaviour, readonly string[]>>;

export type HistoryOptions = {
  databaseUrl: string;
  tenantId: TenantId;
  /** The receiver's address; an endpoint's is below it. */
  receiverUrl: string;
  samples: readonly Sample[];
  retryScheduleMs: readonly number[];
  /** As the tenant's owner. */
  call: CallApi;
};

/** With their retries about 20,000 attempts. */
const EVENTS = 6_500;
const ROLES: Readonly<Record<Behaviour, { description: string; answers: string }>> = {
  healthy: { description: "Accounting", answers: "answers at once" },
  slow: { description: "Data warehouse", answers: "takes its time, and sometimes too much" },
  flaky: { description: "CRM", answers: "fails now and then" },
  dead: { description: "Archive", answers: "closes each connection" },
};

const created = z.object({ endpoint: z.object({ id: z.string() }), secret: z.string() });

/** Does nothing where the tenant had an endpoint before, or there is nothing to publish. */
export async function makeHistory(options: HistoryOptions): Promise<void> {
  const { databaseUrl, tenantId, samples } = options;
  if (samples.length === 0) return;
  const db = createPool({
    url: databaseUrl,
    poolSize: 1,
    applicationName: "postern demo",
    connectionTimeoutMs: 3000,
  });
  try {
    if (await hasEndpoints(db, tenantId)) return;
    const made = await makeEndpoints(options);
    // Before any of its events is due: one under way would have the former secret's signature, and look wrong.
    await options.call("POST", `/api/webhooks/${made.ids.slow}/rotate-secret`, {});
    const nowMs = Date.now();
    const week = makeWeek({
      nowMs,
      events: EVENTS,
      samples,
      takes: (behaviour, type) => sharesOf(samples)[behaviour].includes(groupOf(type)),
      retryScheduleMs: options.retryScheduleMs,
      random: Math.random,
    });
    const headersOf = (attempt: WeekAttempt) => headersOfAttempt(attempt, made.keys);
    await makePartitionsOfWeek(db);
    await inTransaction(db, (transaction) =>
      insertWeek(transaction, tenantId, { week, nowMs, endpointIds: made.ids, headersOf }),
    );
    await db.query("ANALYZE postern.events, postern.deliveries");
    await useEach(options, made.ids, nowMs);
  } finally {
    await db.end();
  }
}

function sharesOf(samples: readonly Sample[]): Shares {
  const groups = [...new Set(samples.map(({ type }) => groupOf(type)))];
  return { healthy: groups, flaky: groups, slow: groups.slice(0, 1), dead: groups.slice(-1) };
}

async function makeEndpoints({ call, receiverUrl, samples }: HistoryOptions) {
  const ids: Partial<Record<Behaviour, EndpointId>> = {};
  const keys: Partial<Record<Behaviour, SigningKey>> = {};
  for (const behaviour of BEHAVIOURS) {
    const { description, answers } = ROLES[behaviour];
    const { endpoint, secret } = created.parse(
      await call("POST", "/api/webhooks", {
        url: `${receiverUrl}/${behaviour}`,
        events: sharesOf(samples)[behaviour].map((group) => `${group}.*`),
        description: `${description} (demonstration: ${answers})`,
        metadata: { demonstration: behaviour },
      }),
    );
    const id = parseEndpointId(endpoint.id);
    if (id !== null) ids[behaviour] = id;
    keys[behaviour] = makeSigningKey(secret);
  }
  return { ids: allOf(ids), keys: allOf(keys) };
}

function allOf<T>(made: Partial<Record<Behaviour, T>>): Record<Behaviour, T> {
  const { healthy, slow, flaky, dead } = made;
  if (healthy === undefined || slow === undefined || flaky === undefined || dead === undefined) {
    throw new Error("an endpoint of the demonstration was not made");
  }
  return { healthy, slow, flaky, dead };
}

function headersOfAttempt(
  { behaviour, event, id, sentAtMs }: WeekAttempt,
  keys: Record<Behaviour, SigningKey>,
): Record<string, string> {
  return buildRequestHeaders({
    version: VERSION,
    eventType: event.type,
    deliveryLabel: id,
    webhookId: event.id,
    timestampSeconds: Math.floor(sentAtMs / 1000),
    body: event.body,
    signingKeys: [keys[behaviour]],
    staticHeaders: {},
  });
}

/** A person's actions on endpoints, for the audit log, and an export for the library. */
async function useEach(
  { call, samples }: HistoryOptions,
  ids: Record<Behaviour, EndpointId>,
  nowMs: number,
): Promise<void> {
  await call("PATCH", `/api/webhooks/${ids.flaky}`, { rate_limit: 50 });
  await call("POST", `/api/webhooks/${ids.healthy}/test`, { event_type: samples[0]?.type });
  await call("POST", "/api/storage/exports", {
    from: new Date(nowMs - 86_400_000).toISOString(),
    to: new Date(nowMs).toISOString(),
  });
}
