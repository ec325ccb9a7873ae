import { pino, type Logger } from "pino";

export type Log = Logger;

/** An error without what libraries hang on it: PostgreSQL's `detail` quotes whole rows. */
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error ? error.code : undefined;
  return { type: error.name, message: error.message, code, stack: error.stack };
}

/** JSON lines on standard output. Anything that could carry a credential is removed everywhere. */
export function makeLog(level: string): Log {
  return pino({
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
  });
}
