import { ApiRefusalError } from "./api-client.ts";
import { makeProgress, type Progress } from "./progress.ts";

/**
 * For what the service does by itself, once it is asked for: that a command could not wait for its end does not end it.
 *
 * @param work its name in a message.
 */
export async function waitForWork<T>(
  work: string,
  isQuiet: boolean,
  wait: (show: Progress["show"]) => Promise<T>,
): Promise<T> {
  const progress = makeProgress(isQuiet);
  try {
    return await wait((text) => progress.show(text)).finally(() => progress.end());
  } catch (error) {
    const isOver = error instanceof ApiRefusalError && error.status < 500;
    if (!isOver) console.error(`${work} goes on without this command`);
    throw error;
  }
}
