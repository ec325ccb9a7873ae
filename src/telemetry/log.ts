import { pino, type Logger } from "pino";

export type Log = Logger;

/** JSON lines on standard output. What could carry a credential is cut out wherever it stands. */
export function makeLog(level: string): Log {
  return pino({
    level,
    base: { service: "postern" },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
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
