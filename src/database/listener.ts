import { escapeIdentifier } from "pg";
import { openSession, type Session, type SessionOptions } from "./session.ts";

export type Listener = Pick<Session, "ended" | "close">;

/**
 * A connection of its own that hears one channel's notifications; LISTEN does
 * not work through a pool. It needs no rights, and has only those of `role`.
 */
export async function createListener(
  { url, role, channel }: Pick<SessionOptions, "url" | "role"> & { channel: string },
  onNotify: (payload: string) => void,
): Promise<Listener> {
  const session = await openSession({ url, role, applicationName: "postern listener", onNotify });
  try {
    await session.query(`LISTEN ${escapeIdentifier(channel)}`);
  } catch (error) {
    await session.close().catch(() => undefined);
    throw error;
  }
  return session;
}
