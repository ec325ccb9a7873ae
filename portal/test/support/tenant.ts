/** What a tenant of a test has, made through the API as its own programs would. */
import assert from "node:assert/strict";
import * as z from "zod";
import { endpointObject, listedDeliveryObject } from "../../../src/api/schemas.ts";
import { PRODUCER } from "../../../test/support/calls.ts";
import { eventually } from "../../../test/support/eventually.ts";
import type { Portal } from "./portal.ts";

const ownerOf = (tid: string) => ({ type: "user", tid, sub: "ada", role: "owner" });

/** Two endpoints, of which one fails, and so many events, each attempted once at both. */
export async function prepare(portal: Portal, tid: string, events: number) {
  const works = await addEndpoint(portal, tid, "/works");
  const fails = await addEndpoint(portal, tid, "/fails");
  for (let n = 0; n < events; n++) await publish(portal, tid, `number ${n}`);
  await eventually(async () => {
    const log = await deliveriesOf(portal, tid);
    return log.filter(({ status }) => status !== "pending").length === 2 * events;
  });
  return [works, fails] as const;
}

export async function addEndpoint(portal: Portal, tid: string, path: string, members: object = {}) {
  const json = { url: new URL(path, portal.service.receiver.url).href, events: ["invoice.*"], ...members };
  const { status, text, body } = await portal.service.call("POST", "/api/webhooks", {
    as: ownerOf(tid),
    json,
  });
  assert.equal(status, 201, text);
  return z.object({ endpoint: endpointObject }).parse(body).endpoint;
}

export async function publish(portal: Portal, tid: string, note: string): Promise<void> {
  const json = { type: "invoice.paid", data: { note } };
  const { status, text } = await portal.service.call("POST", "/api/events", {
    as: { ...PRODUCER, tid },
    json,
  });
  assert.equal(status, 202, text);
}

export async function deliveriesOf(portal: Portal, tid: string, query = "") {
  const { body } = await portal.service.call("GET", `/api/deliveries?${query}`, { as: ownerOf(tid) });
  return z.object({ deliveries: z.array(listedDeliveryObject) }).parse(body).deliveries;
}

export async function endpointsOf(portal: Portal, tid: string) {
  const { body } = await portal.service.call("GET", "/api/webhooks", { as: ownerOf(tid) });
  return z.object({ endpoints: z.array(endpointObject) }).parse(body).endpoints;
}
