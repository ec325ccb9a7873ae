/**
 * Standard output as the log has it. A full disk costs lines and nothing else: with pino's own
 * destination the first line that could not be written was an uncaught error, and the flush at
 * the process's end tried again for ever.
 */
import { pino } from "pino";
import { withinLimit } from "../shared/time-limit.ts";

/** Bytes that wait while nothing can be written; further lines are lost. */
const MOST_WAITING = 4 * 1024 * 1024;
const LAST_LINES_MS = 1000;

export type LogDestination = ReturnType<typeof pino.destination>;

/** @param tellLost hears that lines can be written again, and how many were lost. */
export function openLogDestination(tellLost: (lines: number, why: Error) => void): LogDestination {
  const stream = pino.destination({ dest: process.stdout.fd, sync: false, maxLength: MOST_WAITING });
  let refused: Error | null = null;
  let lost = 0;
  stream.on("error", (error) => (refused = error));
  stream.on("drop", () => {
    lost++;
    // Only a write that fits tries those that wait again.
    stream.write("");
  });
  stream.on("write", () => {
    if (refused === null) return;
    const [why, lines] = [refused, lost];
    refused = null;
    lost = 0;
    if (lines > 0) tellLost(lines, why);
  });
  const flush = stream.flushSync.bind(stream);
  stream.flushSync = () => {
    if (refused === null) flush();
  };
  return stream;
}

/** Before the process ends: until what was logged is written, or can't be, as where nobody reads any more. */
export async function endLogDestination(stream: LogDestination): Promise<void> {
  const written = new Promise<void>((resolve) => {
    stream.once("close", resolve).once("error", () => resolve());
  });
  stream.end();
  // What goes on beside the end may log still, which would be an error now.
  stream.write = () => true;
  await withinLimit(written, LAST_LINES_MS, () => new Error("nobody reads the log")).catch(() => undefined);
  stream.flushSync = () => undefined;
}
