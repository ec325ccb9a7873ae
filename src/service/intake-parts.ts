/** The intake of a process, whose client is loaded only where one is configured. */
import type { MakeDurable } from "../events/publish.ts";
import type { Homes } from "../intake/homes.ts";
import type { FindKnownKeys } from "../intake/known-keys.ts";
import { makeIntakeMonitor, type IntakeMonitor } from "../intake/monitor.ts";
import { makeStreamRelay } from "../intake/relay.ts";
import { makeStoring, type LaneOf } from "../intake/store-events.ts";
import { watchStores } from "../intake/store-watch.ts";
import type { Background } from "../shared/every.ts";
import { systemClock } from "../shared/clock.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { ServiceOptions } from "./service-options.ts";

export type IntakeParts = {
  monitor: IntakeMonitor;
  makeDurable(findKnownKeys: FindKnownKeys, laneOf?: LaneOf): MakeDurable;
  makeRelay(homes: Homes): Background;
  close(): Promise<void>;
};

/** Null without `INTAKE_URL`. */
export async function openIntake(
  { config: { intake }, roles, catalog, log }: ServiceOptions,
  { tracing, metrics }: { tracing: Tracing | null; metrics: Metrics },
): Promise<IntakeParts | null> {
  if (intake === undefined) return null;
  const { openNatsStream } = await import("../intake/nats-stream.ts");
  const stream = openNatsStream(intake, { name: `postern ${[...roles].join("+")}`, log, makes: true });
  const stores = watchStores(stream, systemClock);
  return {
    monitor: makeIntakeMonitor({ status: () => stream.status(), stores }, metrics, systemClock),
    makeDurable: (findKnownKeys, laneOf) => makeStoring({ stream: stores, findKnownKeys, laneOf, metrics }),
    makeRelay: (homes) =>
      makeStreamRelay({ stream, homes, catalog, tracing, clock: systemClock, log, metrics }),
    close: () => stream.close(),
  };
}
