import { defineCommand } from "citty";
import { publishedObject } from "../../api/schemas.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { ApiRefusalError, openApiClient, printingRefusals, readAnswer, URL_ARGUMENT } from "./api-client.ts";
import { withClearErrors } from "../command.ts";

export const publish = defineCommand({
  meta: { name: "publish", description: "Publish an event through the API of a running Postern" },
  args: {
    type: { type: "positional", required: true, description: "Event type, for example invoice.paid" },
    data: { type: "string", description: "The event's data as JSON; default: {}, or none with --versions" },
    versions: { type: "string", description: 'Data of versions as JSON, by number: {"1": {}, "2": {}}' },
    tenant: { type: "string", required: true, description: "Tenant id" },
    id: { type: "string", description: "Idempotency key" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        const session = { type: "service", tid: args.tenant, permissions: ["events:write"] };
        const event = eventText(args);
        const api = await openApiClient(session, args.url);
        const answer = await api.call("POST", "/api/events", event).catch(withHint(args.type));
        readAnswer(publishedObject, answer);
        console.log(answer);
      }),
    ),
});

/** The answer says only unknown_event_type, which programs read. */
function withHint(type: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ApiRefusalError) || !error.message.includes('"unknown_event_type"')) throw error;
    const hint = `That Postern's event catalog has no type ${type}: add it to the file of EVENT_CATALOG, or see what there is with GET /api/webhooks/events.`;
    throw new ApiRefusalError(error.message, error.status, { hint });
  };
}

/** The data go along as they were written: parsed and written again, long numbers would lose digits. */
function eventText(args: {
  type: string;
  data: string | undefined;
  versions: string | undefined;
  id: string | undefined;
}): string {
  const { type, versions, id, data = versions === undefined ? "{}" : undefined } = args;
  const members = [
    `"type":${JSON.stringify(type)}`,
    ...member("data", data),
    ...member("versions", versions),
    ...(id === undefined ? [] : [`"id":${JSON.stringify(id)}`]),
  ];
  return `{${members.join(",")}}`;
}

function member(name: string, text: string | undefined): string[] {
  if (text === undefined) return [];
  try {
    JSON.parse(text);
  } catch {
    throw new ConfigError(`--${name} is not JSON`);
  }
  return [`"${name}":${text}`];
}
