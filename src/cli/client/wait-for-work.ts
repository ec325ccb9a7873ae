import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusalError } from "./api-client.ts";
import { makeProgress, type Progress } from "../progress.ts";

const LOOK_EVERY_MS = 500;

/**
 * For what the service does by itself, once it is asked for: that a command could not wait for its end does not end it.
 *
 * @param work its name in a message.
 * @param look answers null while it goes on.
 */
export async function waitForWork<T>(
  work: string,
  isQuiet: boolean,
  look: (show: Progress["show"]) => Promise<T | null>,
): Promise<T> {
  const progress = makeProgress(isQuiet);
  try {
    return await untilEnded(() => look((text) => progress.show(text))).finally(() => progress.end());
  } catch (error) {
    const isOver = error instanceof ApiRefusalError && error.status < 500;
    if (!isOver) console.error(`${work} goes on without this command`);
    throw error;
  }
}

async function untilEnded<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const ended = await look();
    if (ended !== null) return ended;
    await delay(LOOK_EVERY_MS);
  }
}
