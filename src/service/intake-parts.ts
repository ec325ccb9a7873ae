/** The parts of an intake, loaded only where one is configured. */
import type { Config } from "../config.ts";
import type { Acceptor } from "../events/acceptor.ts";
import type { LiveCatalog } from "../events/live-catalog.ts";
import { makeTakenEvents } from "../events/taken-events.ts";
import { makeKnownKeys } from "../intake/known-keys.ts";
import { makeIntakeMonitor, type IntakeMonitor } from "../intake/monitor.ts";
import { makeStreamRelay, type StreamRelay } from "../intake/relay.ts";
import { makeStoring } from "../intake/store-events.ts";
import type { MakeDurable } from "../events/publish.ts";
import { systemClock } from "../shared/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";

export type IntakeParts = {
  makeDurable: MakeDurable;
  monitor: IntakeMonitor;
  relay: StreamRelay;
  close(): Promise<void>;
};

/** Null without `INTAKE_URL`. */
export async function openIntake(
  { intake }: Config,
  services: {
    name: string;
    acceptor: Acceptor;
    catalog: LiveCatalog;
    tracing: Tracing | null;
    log: Log;
    metrics: Metrics;
  },
): Promise<IntakeParts | null> {
  if (intake === undefined) return null;
  const { openNatsStream } = await import("../intake/nats-stream.ts");
  const { acceptor, metrics } = services;
  const findKnownKeys = makeKnownKeys(acceptor.queue, systemClock);
  const stream = openNatsStream(intake, { ...services, makes: true });
  return {
    makeDurable: makeStoring({ stream, findKnownKeys, metrics }),
    monitor: makeIntakeMonitor(stream, metrics, systemClock),
    relay: makeStreamRelay({ ...services, stream, taken: makeTakenEvents(acceptor), clock: systemClock }),
    close: () => stream.close(),
  };
}
