import { pino, type Logger } from "pino";
import { endLogDestination, openLogDestination, type LogDestination } from "./log-destination.ts";

export type Log = Logger;

const destinations = new WeakMap<Log, LogDestination>();

/** An error without what libraries hang on it: PostgreSQL's `detail` quotes whole rows. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error ? error.code : undefined;
  const errors = error instanceof AggregateError ? error.errors.map(describeError) : undefined;
  return { type: error.name, message: error.message, code, stack: error.stack, errors };
}

/**
 * JSON lines on standard output. Anything that could carry a credential is removed everywhere.
 * While they can't be written, some MiB of them wait; how many were lost is logged when they can.
 */
export function makeLog(level: string): Log {
  const destination = openLogDestination((lines, err) =>
    log.warn({ lines, err }, "lines of the log were lost: they could not be written"),
  );
  const log = pino(
    {
      level,
      base: { service: "postern" },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      serializers: { err: describeError },
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          "authorization",
          "*.authorization",
          "headers.authorization",
          "*.headers.authorization",
          "secret",
          "*.secret",
        ],
        censor: "[masked]",
      },
    },
    destination,
  );
  destinations.set(log, destination);
  return log;
}

/** Before the process ends: its last lines have a second to be written. */
export async function endLog(log: Log): Promise<void> {
  const destination = destinations.get(log);
  if (destination !== undefined) await endLogDestination(destination);
}
