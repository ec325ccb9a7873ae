/** What tests do through the API again and again, with answers parsed. */
import assert from "node:assert/strict";
import * as z from "zod";
import { deliveryObject, endpointObject, publishedObject } from "../../src/api/schemas.ts";
import type { CallOptions, Claims } from "./calls.ts";
import type { TestService } from "./service.ts";
import { PRODUCER } from "./calls.ts";

const created = z.object({ endpoint: endpointObject, secret: z.string() });
const detail = z.object({ endpoint: endpointObject, recent_deliveries: z.array(deliveryObject) });
const deliveryList = z.object({ deliveries: z.array(deliveryObject) });

export type Delivery = z.infer<typeof deliveryObject>;

type Caller = Pick<TestService, "call">;
type As = Pick<CallOptions, "as">;

export async function createEndpoint(service: Caller, input: Record<string, unknown>, options: As = {}) {
  const answer = await service.call("POST", "/api/webhooks", { ...options, json: input });
  assert.equal(answer.status, 201, answer.text);
  return created.parse(answer.body);
}

export async function getEndpoint(service: Caller, id: string, options: As = {}) {
  const answer = await service.call("GET", `/api/webhooks/${id}`, options);
  assert.equal(answer.status, 200, answer.text);
  return detail.parse(answer.body);
}

export async function patchEndpoint(service: Caller, id: string, change: Record<string, unknown>) {
  const answer = await service.call("PATCH", `/api/webhooks/${id}`, { json: change });
  assert.equal(answer.status, 200, answer.text);
}

/** Publishes one event and answers its id and the number of its dispatches. */
export async function publish(
  service: Caller,
  type = "invoice.paid",
  { data = {}, as = PRODUCER }: { data?: Record<string, unknown>; as?: Claims } = {},
) {
  const answer = await service.call("POST", "/api/events", { as, json: { type, data } });
  assert.equal(answer.status, 202, answer.text);
  return publishedObject.parse(answer.body);
}

/** One page of an endpoint's log, newest first. */
/** Publishes so many events of a type in one request. */
export async function publishMany(service: Caller, type: string, count: number): Promise<void> {
  const json = Array.from({ length: count }, (_, n) => ({ type, data: { n } }));
  const answer = await service.call("POST", "/api/events", { as: PRODUCER, json });
  assert.equal(answer.status, 202, answer.text);
}

export async function listDeliveries(
  service: Caller,
  id: string,
  query = "",
  options: As = {},
): Promise<Delivery[]> {
  const answer = await service.call("GET", `/api/webhooks/${id}/deliveries${query}`, options);
  assert.equal(answer.status, 200, answer.text);
  return deliveryList.parse(answer.body).deliveries;
}

/** The whole log of an endpoint, newest first, page by page. */
export async function wholeLog(service: Caller, id: string): Promise<Delivery[]> {
  const log: Delivery[] = [];
  for (;;) {
    const oldest = log.at(-1);
    const page = await listDeliveries(
      service,
      id,
      `?limit=100${oldest === undefined ? "" : `&before=${oldest.id}`}`,
    );
    log.push(...page);
    if (page.length < 100) return log;
  }
}
