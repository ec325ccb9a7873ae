import { pino, symbols, type Logger } from "pino";
import { withinLimit } from "../shared/time-limit.ts";
import { openLogDestination, type LogDestination } from "./log-destination.ts";

export type Log = Logger;

/** An error without what libraries hang on it: PostgreSQL's `detail` quotes whole rows. */
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error ? error.code : undefined;
  return { type: error.name, message: error.message, code, stack: error.stack };
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
  return log;
}

const LAST_LINES_MS = 1000;

/**
 * Before the process ends: until what was logged is written, or can't be. At the process's end pino would try
 * for ever where nobody reads any more, and no signal would reach the process.
 */
export async function endLog(log: Log): Promise<void> {
  const stream: unknown = Reflect.get(log, symbols.streamSym);
  if (!isDestination(stream)) return;
  const written = new Promise<void>((resolve) => {
    stream.once("close", resolve).once("error", () => resolve());
  });
  stream.end();
  // What goes on beside the end may log still, which would be an error now.
  stream.write = () => true;
  await withinLimit(written, LAST_LINES_MS, () => new Error("nobody reads the log")).catch(() => undefined);
  stream.flushSync = () => undefined;
}

function isDestination(stream: unknown): stream is LogDestination {
  return typeof stream === "object" && stream !== null && "flushSync" in stream && "once" in stream;
}
