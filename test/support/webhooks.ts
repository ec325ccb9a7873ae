/** What tests do with the API again and again, and the answers that it gives as the contract words them. */
import assert from "node:assert/strict";
import * as z from "zod";
import { deliveryObject, endpointObject } from "../../src/api/schemas.ts";
import { OWNER, PRODUCER, type ApiAnswer, type CallOptions, type Claims } from "./calls.ts";
import { eventually } from "./eventually.ts";
import type { TestService } from "./service.ts";

export const UNKNOWN_ID = "0190a5b1-7c00-7000-8000-000000000000";

/** Each error body of the contract, whole. */
export const REFUSED = {
  unauthorized: [401, { error: "Unauthorized" }],
  forbidden: [403, { error: "Forbidden" }],
  ownerRequired: [403, { error: "Owner role required to rotate secret" }],
  unsafeUrl: [400, { error: "Webhook URL must be a public HTTPS endpoint" }],
  notFound: [404, { error: "Not found" }],
  endpointNotFound: [404, { error: "Endpoint not found" }],
  methodNotAllowed: [405, { error: "Method not allowed" }],
  notFailed: [409, { error: "Only failed deliveries can be retried" }],
  limitReached: [409, { error: "Endpoint limit reached" }],
  keyReused: [409, { error: "Idempotency key reused with different content" }],
  tooLarge: [413, { error: "Payload too large" }],
  coded: [415, { error: "Content-Encoding is not supported: send the body as plain JSON, not compressed" }],
  notSubscribed: [422, { error: "Endpoint not subscribed to this event" }],
} as const;

export type Endpoint = z.infer<typeof endpointObject>;
export type Delivery = z.infer<typeof deliveryObject>;

const issues = z.array(
  z.strictObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string(), code: z.string() }),
);
const createdAnswer = z.strictObject({ endpoint: endpointObject.strict(), secret: z.string() });
const endpointAnswer = z.strictObject({ endpoint: endpointObject.strict() });
const endpointsAnswer = z.strictObject({ endpoints: z.array(endpointObject.strict()) });
const detailAnswer = z.strictObject({
  endpoint: endpointObject.strict(),
  recent_deliveries: z.array(deliveryObject.strict()),
});
const deliveriesAnswer = z.strictObject({ deliveries: z.array(deliveryObject.strict()) });
const deliveryAnswer = z.strictObject({ delivery: deliveryObject.strict() });
const secretAnswer = z.strictObject({ secret: z.string() });
const publishedAnswer = z.strictObject({ id: z.string(), deliveries: z.number() });
const testAnswer = z.strictObject({
  status: z.enum(["test", "failed"]),
  response_status: z.number().nullable(),
  response_body: z.string().nullable(),
  latency_ms: z.number().int().min(0),
});

/** The answer is exactly this refusal, with its request id. */
export function assertRefused(answer: ApiAnswer, [status, body]: readonly [number, object]): void {
  assert.deepEqual([answer.status, answer.body], [status, body], answer.text);
  assert.match(answer.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
}

/** The answer is a 400 with issues; answers their paths, joined by dots, with their messages. */
export function issuesOf(answer: ApiAnswer, error = "Validation failed"): Record<string, string> {
  assert.equal(answer.status, 400, answer.text);
  const body = z.strictObject({ error: z.literal(error), issues }).parse(answer.body);
  assert.ok(body.issues.length > 0);
  return Object.fromEntries(body.issues.map((issue) => [issue.path.join("."), issue.message]));
}

/** One tenant's user at the API of a service; every call but `call` expects success. */
export function webhooksOf(service: TestService, as: Claims = OWNER) {
  const call = (method: string, path: string, options: CallOptions = {}): Promise<ApiAnswer> =>
    service.call(method, `/api/webhooks${path}`, { as, ...options });

  async function expect(status: number, method: string, path: string, options?: CallOptions) {
    const answer = await call(method, path, options);
    assert.equal(answer.status, status, answer.text);
    return answer.body;
  }

  async function deliveries(id: string, query = ""): Promise<Delivery[]> {
    return deliveriesAnswer.parse(await expect(200, "GET", `/${id}/deliveries${query}`)).deliveries;
  }

  return {
    call,
    deliveries,
    async create(input: Record<string, unknown> = {}): Promise<z.infer<typeof createdAnswer>> {
      return createdAnswer.parse(
        await expect(201, "POST", "", { json: { url: service.receiver.url, ...input } }),
      );
    },
    async list(): Promise<Endpoint[]> {
      return endpointsAnswer.parse(await expect(200, "GET", "")).endpoints;
    },
    async detail(id: string): Promise<z.infer<typeof detailAnswer>> {
      return detailAnswer.parse(await expect(200, "GET", `/${id}`));
    },
    async update(id: string, json: unknown): Promise<Endpoint> {
      return endpointAnswer.parse(await expect(200, "PATCH", `/${id}`, { json })).endpoint;
    },
    async remove(id: string): Promise<void> {
      assert.deepEqual(await expect(200, "DELETE", `/${id}`), { ok: true });
    },
    async rotate(id: string, json?: unknown): Promise<string> {
      return secretAnswer.parse(await expect(200, "POST", `/${id}/rotate-secret`, { json })).secret;
    },
    async delivery(id: string, deliveryId: string): Promise<Delivery> {
      return deliveryAnswer.parse(await expect(200, "GET", `/${id}/deliveries/${deliveryId}`)).delivery;
    },
    async retry(id: string, deliveryId: string): Promise<Delivery> {
      return deliveryAnswer.parse(await expect(200, "POST", `/${id}/deliveries/${deliveryId}/retry`))
        .delivery;
    },
    async test(id: string, eventType: string): Promise<z.infer<typeof testAnswer>> {
      return testAnswer.parse(await expect(200, "POST", `/${id}/test`, { json: { event_type: eventType } }));
    },
    /** Waits until the log of the endpoint holds so many rows of the status, and answers them, newest first. */
    waitFor(id: string, status: Delivery["status"], count = 1): Promise<Delivery[]> {
      return eventually(async () => {
        const found = await deliveries(id, `?status=${status}`);
        return found.length >= count && found;
      });
    },
  };
}

export type Webhooks = ReturnType<typeof webhooksOf>;

/** Publishes one event that must be new. */
export async function publish(
  service: TestService,
  event: { type: string; data?: Record<string, unknown>; id?: string },
  as: Claims = PRODUCER,
): Promise<z.infer<typeof publishedAnswer>> {
  const answer = await service.call("POST", "/api/events", { as, json: { data: {}, ...event } });
  assert.equal(answer.status, 202, answer.text);
  return publishedAnswer.parse(answer.body);
}

/** The answers' statuses, least first: of concurrent calls, whose order is nobody's. */
export function sortedStatuses(answers: readonly ApiAnswer[]): number[] {
  return answers.map(({ status }) => status).sort((one, other) => one - other);
}

/** The first of something that a test knows to be there. */
export function first<T>(items: readonly T[]): T {
  const [item] = items;
  assert.ok(item !== undefined, "there is none");
  return item;
}
