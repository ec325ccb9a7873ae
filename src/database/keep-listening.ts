/** Hears a channel's notifications for as long as it is wanted, over connections that come and go. */
import { pause } from "../shared/every.ts";
import { createListener, type Listener } from "./listener.ts";

const RECONNECT_MS = 1000;
/** Sooner than networks forget a connection that idles, and far sooner than the system notices that. */
const ASK_EVERY_MS = 15_000;

type Channel = Parameters<typeof createListener>[0];

export type Hearing = {
  heard: (payload: string) => void;
  /** A connection listens from now on. What was sent before it, and since the last one, was missed. */
  opened: () => void;
  failed: (error: unknown) => void;
};

/** Listens, and again a second after each loss, until it is stopped. */
export function keepListening(
  channel: Channel,
  { heard, opened, failed }: Hearing,
  askEveryMs = ASK_EVERY_MS,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  // One promise for all waits, so that later waits also notice a stop.
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener("abort", () => resolve());
  });

  async function listen(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const listener = await createListener(channel, heard);
        opened();
        await untilLost(listener, stopped, askEveryMs);
      } catch (error) {
        failed(error);
      }
      await pause(RECONNECT_MS, stopping.signal);
    }
  }

  const running = listen();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Closes it then. Rejects where the server no longer answers. */
async function untilLost(listener: Listener, stopped: Promise<void>, askEveryMs: number): Promise<void> {
  const silent = Promise.withResolvers<never>();
  const timer = setInterval(() => void listener.confirm().catch(silent.reject), askEveryMs);
  try {
    await Promise.race([listener.ended, stopped, silent.promise]);
  } finally {
    clearInterval(timer);
    await listener.close();
  }
}
