import { defineCommand } from "citty";
import { ConfigError } from "../shared/config-error.ts";
import { openApiClient, printingRefusals, URL_ARGUMENT } from "./api-client.ts";
import { withClearErrors } from "./command.ts";

export const publish = defineCommand({
  meta: { name: "publish", description: "Publish an event through the API of a running Postern" },
  args: {
    type: { type: "positional", required: true, description: "Event type, for example invoice.paid" },
    data: { type: "string", default: "{}", description: "The event's data as JSON" },
    tenant: { type: "string", required: true, description: "Tenant id" },
    id: { type: "string", description: "Idempotency key" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        const session = { type: "service", tid: args.tenant, permissions: ["events:write"] };
        const event = eventText(args.type, args.data, args.id);
        const api = await openApiClient(session, args.url);
        console.log(await api.call("POST", "/api/events", event));
      }),
    ),
});

/** The data go along as they were written: parsed and written again, long numbers would lose digits. */
function eventText(type: string, data: string, id: string | undefined): string {
  try {
    JSON.parse(data);
  } catch {
    throw new ConfigError("--data is not JSON");
  }
  const key = id === undefined ? "" : `,"id":${JSON.stringify(id)}`;
  return `{"type":${JSON.stringify(type)},"data":${data}${key}}`;
}
