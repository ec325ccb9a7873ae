/** The JSON Schema of what producers store themselves, for docs/intake-message.schema.json. */
import * as z from "zod";
import { publishManySchema, publishOneSchema } from "../events/publish-input.ts";

export function messageSchema(): unknown {
  const either = z.union([publishOneSchema, publishManySchema]).meta({
    title: "A message below postern.events.<tenant>",
    description: "One event, or an array of them, in UTF-8: the body of POST /api/events.",
  });
  return z.toJSONSchema(either, { io: "input", unrepresentable: "any" });
}
