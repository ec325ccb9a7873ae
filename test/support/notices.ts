/** What sessions hear over the queue's channels. */
import type { Pool } from "../../src/database/pool.ts";
import { FETCH_CHANNEL, WAKE_CHANNEL } from "../../src/queue/channels.ts";
import { eventually } from "./eventually.ts";

const END = "the_end";

/** The channels and payloads of what is said while the work is done, in order. */
export async function noticesOf(pool: Pool, work: () => Promise<unknown>): Promise<[string, string][]> {
  const session = await pool.connect();
  const heard: [string, string][] = [];
  session.on("notification", ({ channel, payload = "" }) => void heard.push([channel, payload]));
  try {
    await session.query(`LISTEN ${WAKE_CHANNEL}; LISTEN ${FETCH_CHANNEL}; LISTEN ${END}`);
    await work();
    await pool.query(`NOTIFY ${END}`);
    await eventually(async () => heard.at(-1)?.[0] === END);
    return heard.slice(0, -1);
  } finally {
    session.release(true);
  }
}
