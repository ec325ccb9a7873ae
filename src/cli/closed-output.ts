/**
 * Whether anybody still reads what a command prints: not behind `head` when that
 * has enough. A list then reads no more pages. Only for commands that change
 * nothing, since others go on to their end.
 */
const closing = new AbortController();
process.stdout.once("error", () => closing.abort());

export const closedOutput: AbortSignal = closing.signal;
