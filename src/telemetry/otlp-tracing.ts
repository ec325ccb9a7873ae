/**
 * Traces of events over OTLP, loaded only where a collector is configured.
 *
 * An event's id is its trace id, and the id's second half the id of its first
 * span. So every process, also after a restart, continues the same trace from
 * what the queue stores anyway (docs/adr/0019).
 */
import {
  diag,
  DiagLogLevel,
  type Link,
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
  RandomIdGenerator,
  TracerProvider,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { EventId } from "../shared/id.ts";
import { VERSION } from "../shared/version.ts";
import type { Log } from "./log.ts";
import type { TracedEvent, Tracing, TracingOptions } from "./tracing.ts";

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
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
    accepted(event, { startedAtMs, traceparent }) {
      const producer = parseTraceparent(traceparent);
      const links: Link[] = producer === null ? [] : [{ context: producer }];
      const options = {
        root: true,
        kind: SpanKind.PRODUCER,
        startTime: startedAtMs,
        attributes: attributesOf(event),
        links,
      };
      ids.as(firstSpanOf(event.eventId), () => tracer.startSpan("event accepted", options)).end();
    },
    attempt(dispatch) {
      const parent = trace.setSpanContext(ROOT_CONTEXT, firstSpanOf(dispatch.eventId));
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
  return new TracerProvider({
    idGenerator,
    // By the trace id alone, so that all processes decide alike.
    sampler: new TraceIdRatioBasedSampler(config.share),
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

function firstSpanOf(id: EventId): SpanContext {
  const traceId = id.replaceAll("-", "");
  return { traceId, spanId: traceId.slice(HALF), traceFlags: TraceFlags.SAMPLED, isRemote: true };
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
