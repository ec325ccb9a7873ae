/**
 * Traces of events over OTLP, loaded only where a collector is configured.
 *
 * The second half of an event's id is the id of its first span. Its trace is its
 * producer's, whose `traceparent` is stored with the event, or has the event's id.
 * So every process, also after a restart, continues the same trace (docs/adr/0019).
 */
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  TracerProvider,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import { TRACEPARENT } from "../shared/traceparent.ts";
import { VERSION } from "../shared/version.ts";
import type { Log } from "./log.ts";
import type { TracedEvent, Tracing, TracingOptions } from "./tracing.ts";

const HALF = 16;
// A stop waits for the last export, its repeats included, and must not wait long for a collector that is down.
const EXPORT_TIMEOUT_MS = 2000;

export function makeTracing(config: TracingOptions, log: Log): Tracing {
  const tell = (message: string) => log.warn(`traces: ${message}`);
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    DiagLogLevel.WARN,
  );
  const ids = new EventIds();
  const provider = makeProvider(config, ids);
  const tracer = provider.getTracer("postern", VERSION);
  return {
    continues: (header) => (parseTraceparent(header) === null ? undefined : String(header)),
    accepted(event, startedAtMs) {
      const producer = parseTraceparent(event.traceparent);
      const parent = producer === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, producer);
      const options = { kind: SpanKind.PRODUCER, startTime: startedAtMs, attributes: attributesOf(event) };
      ids.as(firstSpanOf(event), () => tracer.startSpan("event accepted", options, parent)).end();
    },
    attempt(dispatch) {
      const parent = trace.setSpanContext(ROOT_CONTEXT, firstSpanOf(dispatch));
      const attributes = {
        ...attributesOf(dispatch),
        "postern.endpoint.id": dispatch.endpointId,
        "postern.delivery.id": dispatch.id,
        "postern.attempt": dispatch.attempt,
      };
      const span = tracer.startSpan("webhook attempt", { kind: SpanKind.CLIENT, attributes }, parent);
      return {
        traceparent: writeTraceparent(span.spanContext()),
        end({ responseStatus, error }) {
          if (responseStatus !== null) span.setAttribute("http.response.status_code", responseStatus);
          if (error !== null) span.setAttribute("error.type", error);
          const isDelivered = responseStatus !== null && responseStatus >= 200 && responseStatus < 300;
          if (!isDelivered) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    async close() {
      await provider
        .shutdown()
        .catch((error: unknown) => log.warn({ err: error }, "the last traces were not sent"));
    },
  };
}

function makeProvider(config: TracingOptions, idGenerator: IdGenerator): TracerProvider {
  const exporter = new OTLPTraceExporter({
    url: `${config.url}/v1/traces`,
    headers: { ...config.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const share = new TraceIdRatioBasedSampler(config.share);
  return new TracerProvider({
    idGenerator,
    // By the trace id or the producer's flag alone, so that all processes decide alike.
    sampler: new ParentBasedSampler({ root: share, localParentSampled: share }),
    resource: resourceFromAttributes({ "service.name": config.serviceName, "service.version": VERSION }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
}

function silent(): void {
  // Of the library's messages only warnings and errors are for the log.
}

/** Random ids, but for a span that is started with its own. */
class EventIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #own: SpanContext | null = null;

  as<T>(own: SpanContext, start: () => T): T {
    this.#own = own;
    try {
      return start();
    } finally {
      this.#own = null;
    }
  }

  generateTraceId(): string {
    return this.#own?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.#own?.spanId ?? this.#random.generateSpanId();
  }
}

/** Remote if its trace is a producer's: then that one's flag decides whether it is sampled. */
function firstSpanOf({ eventId, traceparent }: Pick<TracedEvent, "eventId" | "traceparent">): SpanContext {
  const digits = eventId.replaceAll("-", "");
  const own = { traceId: digits, traceFlags: TraceFlags.SAMPLED, isRemote: false };
  return { ...(parseTraceparent(traceparent) ?? own), spanId: digits.slice(HALF) };
}

function attributesOf({ eventId, eventType, tenantId }: TracedEvent) {
  return { "postern.event.id": eventId, "postern.event.type": eventType, "postern.tenant.id": tenantId };
}

function parseTraceparent(text: unknown): SpanContext | null {
  const [, traceId, spanId, flags] = (typeof text === "string" ? TRACEPARENT.exec(text) : null) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
