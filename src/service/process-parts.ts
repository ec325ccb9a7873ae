/** What a process has once, however many databases it works on. */
import { makeCatalogWatch } from "../events/catalog-watch.ts";
import { inTurn } from "../shared/ending.ts";
import { makeMetrics, watchProcess } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { openIntake } from "./intake-parts.ts";
import { makeOutbound } from "./outbound-parts.ts";
import type { ServiceOptions } from "./service-options.ts";

export type ProcessParts = Awaited<ReturnType<typeof makeProcessParts>>;

export async function makeProcessParts(options: ServiceOptions) {
  const { catalog, log } = options;
  const metrics = makeMetrics();
  watchProcess(metrics);
  const { guard, sender } = makeOutbound(options);
  const tracing = await openTracing(options);
  const intake = await openIntake(options, { tracing, metrics });
  return {
    metrics,
    guard,
    sender,
    tracing,
    intake,
    catalogWatch: makeCatalogWatch({ catalog, log, metrics }),
    stopSending: () => inTurn([() => sender.close(), () => guard.close()]),
    close: () => inTurn([() => intake?.close(), () => tracing?.close()]),
  };
}

/** Loaded for a collector alone. */
async function openTracing({ config, log }: ServiceOptions): Promise<Tracing | null> {
  if (config.tracing === undefined) return null;
  const { makeTracing } = await import("../telemetry/otlp-tracing.ts");
  return makeTracing(config.tracing, log);
}
