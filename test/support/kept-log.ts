/** A log that a test reads: each line without its words, and of its error the message alone. */
import { pino } from "pino";
import type { Log } from "../../src/telemetry/log.ts";

export function makeKeptLog(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => {
    const { msg: _, err, ...rest } = JSON.parse(line);
    lines.push(err === undefined ? rest : { ...rest, err: err.message });
  };
  return { log: pino({ base: null, timestamp: false }, { write }), lines };
}
