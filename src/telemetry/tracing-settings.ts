/** The settings of traces, by the names that OpenTelemetry gives them; src/config.ts reads them with the others. */
import * as z from "zod";
import type { TracingOptions } from "./tracing.ts";
import { withoutSlash } from "../shared/without-slash.ts";

export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about: "URL of an OpenTelemetry collector (OTLP over HTTP) for traces; absent: none",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    about: "headers for the collector: name=value, comma-separated",
    fallback: "",
    secret: true,
  },
  OTEL_SERVICE_NAME: { about: "name of this service in traces", fallback: "postern" },
  OTEL_TRACES_SAMPLER_ARG: {
    about: "share of events that is traced, 0 to 1, unless a producer's traceparent decides",
    fallback: "1",
  },
} as const;

// Names as RFC 9110 has them; values in visible ASCII, percent-encoded, that hold no control once decoded.
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=((?:[\x21-\x24\x26-\x7e]|%[2-7][0-9A-Fa-f])+)$/;

const headers = z.string().transform((text, context) => {
  const parts = text.split(",").map((part) => part.trim());
  const found: Record<string, string> = {};
  for (const part of parts.filter((one) => one !== "")) {
    const [, name, value] = HEADER.exec(part) ?? [];
    if (name === undefined || value === undefined || value.includes("%7f") || value.includes("%7F")) {
      context.addIssue({ code: "custom", message: "must be name=value, comma-separated, percent-encoded" });
      return z.NEVER;
    }
    found[name] = decodeURIComponent(value);
  }
  return found;
});

export const tracingFields = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL" })
    .transform(withoutSlash)
    .optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  OTEL_SERVICE_NAME: z.string().min(1),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(?:0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?)$/, "must be a number from 0 to 1, such as 0.1")
    .transform(Number),
};
const fields = z.object(tracingFields);

export function tracingOptions(values: z.infer<typeof fields>): TracingOptions | undefined {
  const url = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (url === undefined) return undefined;
  return {
    url,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: values.OTEL_SERVICE_NAME,
    share: values.OTEL_TRACES_SAMPLER_ARG,
  };
}
