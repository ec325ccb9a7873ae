/** A program as a user writes it with a generated client: an endpoint, an event, its delivery, two refusals. */
import createClient from "openapi-fetch";
import type { components, paths } from "./api.d.ts";

const { API_URL = "", USER_TOKEN, SERVICE_TOKEN, RECEIVER_URL = "" } = process.env;
const LOOKS = 300;
const PAUSE_MS = 100;

const withToken = (token: string | undefined) =>
  createClient<paths>({ baseUrl: API_URL, headers: { Authorization: `Bearer ${token}` } });
const user = withToken(USER_TOKEN);
const service = withToken(SERVICE_TOKEN);

const created = await user.POST("/api/webhooks", {
  body: { url: RECEIVER_URL, events: ["invoice.*"], metadata: { made_by: "typescript" } },
});
if (created.data === undefined) throw new Error(created.error.error);
const { endpoint, secret } = created.data;

const event: components["schemas"]["NewEvent"] = {
  type: "invoice.paid",
  data: { invoice_id: "inv_1" },
  id: "typescript-1",
};
const published = await service.POST("/api/events", { body: event });
if (published.data === undefined || Array.isArray(published.data)) throw new Error("no event was published");

async function delivery(): Promise<components["schemas"]["Delivery"]> {
  for (let look = 0; look < LOOKS; look++) {
    const listed = await user.GET("/api/webhooks/{id}/deliveries", {
      params: { path: { id: endpoint.id }, query: { status: "delivered", limit: 10 } },
    });
    const found = listed.data?.deliveries[0];
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error("no delivery");
}
const delivered = await delivery();

const unknown = await user.GET("/api/webhooks/{id}", { params: { path: { id: published.data.id } } });
const invalid = await user.POST("/api/webhooks", { body: { url: RECEIVER_URL, events: ["no.such.type"] } });

console.log(
  JSON.stringify({
    endpoint_id: endpoint.id,
    secret: secret.slice(0, 6),
    event_id: published.data.id,
    delivered: { event_id: delivered.event_id, status: delivered.status, attempt: delivered.attempt },
    unknown: unknown.error?.error,
    invalid: { error: invalid.error?.error, path: invalid.error?.issues?.[0]?.path },
  }),
);
