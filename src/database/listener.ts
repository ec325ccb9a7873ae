import { escapeIdentifier } from "pg";
import { openSession, type Session, type SessionOptions } from "./session.ts";

/** `confirm` rejects where the server does not answer: a connection that idles may be lost without a word. */
export type Listener = Pick<Session, "ended" | "close"> & { confirm(): Promise<void> };

const ANSWER_LIMIT_MS = 5000;

/**
 * A connection of its own that hears one channel's notifications; LISTEN does
 * not work through a pool. It needs no rights, and has only those of `role`.
 */
export async function createListener(
  { url, role, channel }: Pick<SessionOptions, "url" | "role"> & { channel: string },
  onNotify: (payload: string) => void,
): Promise<Listener> {
  const session = await openSession({
    url,
    role,
    applicationName: "postern listener",
    queryTimeoutMs: ANSWER_LIMIT_MS,
    onNotify,
  });
  // Once more, it changes nothing.
  const listen = async (): Promise<void> => void (await session.query(`LISTEN ${escapeIdentifier(channel)}`));
  try {
    await listen();
  } catch (error) {
    await session.close().catch(() => undefined);
    throw error;
  }
  return { ended: session.ended, close: () => session.close(), confirm: listen };
}
