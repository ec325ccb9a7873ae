/**
 * Listens to PostgreSQL's NOTIFY, so that no worker has to poll fast: for new
 * due dispatches and outbox events, and for events that a person delivered while
 * they may wait in a lane. Both may be missed: polling finds the first, and the
 * second costs one more request.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createListener } from "../../database/listener.ts";
import { parseEndpointId, parseEventId } from "../../shared/id.ts";
import type { Log } from "../../telemetry/log.ts";
import type { EventAtEndpoint } from "../queue.ts";
import { WAKE_CHANNEL } from "../wake-channel.ts";

/** Many commits in a burst are one reason to look. */
const DEBOUNCE_MS = 10;
const RECONNECT_MS = 1000;

export type WakeListener = { start(): void; stop(): Promise<void> };

export function makeWakeListener(services: {
  databaseUrl: string;
  log: Log;
  wake: () => void;
  withdraw: (superseded: EventAtEndpoint) => void;
}): WakeListener {
  const { databaseUrl, log, wake, withdraw } = services;
  const stopping = new AbortController();
  // One promise for all that wait, so that a stop is seen by those too who come after it.
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener("abort", () => resolve());
  });
  let running: Promise<void> | null = null;
  let debounce: NodeJS.Timeout | null = null;

  function wakeSoon(): void {
    debounce ??= setTimeout(() => {
      debounce = null;
      wake();
    }, DEBOUNCE_MS);
  }

  function hear(payload: string): void {
    const superseded = readSuperseded(payload);
    if (superseded === null) wakeSoon();
    else withdraw(superseded);
  }

  async function listen(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const channel = { url: databaseUrl, role: "postern_worker", channel: WAKE_CHANNEL } as const;
        const listener = await createListener(channel, hear);
        // For notifications that were sent while the connection was down.
        wakeSoon();
        await Promise.race([listener.ended, stopped]);
        await listener.close();
      } catch (error) {
        log.warn({ err: error }, "cannot listen for new dispatches; polling meanwhile");
      }
      await delay(RECONNECT_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    start() {
      running ??= listen();
    },
    async stop() {
      stopping.abort();
      await running;
      if (debounce !== null) clearTimeout(debounce);
    },
  };
}

/** The payload that superseding sends; null for the empty one, which only wakes. */
function readSuperseded(payload: string): EventAtEndpoint | null {
  const [endpoint, event] = payload.split(" ");
  const endpointId = parseEndpointId(endpoint);
  const eventId = parseEventId(event);
  return endpointId === null || eventId === null ? null : { endpointId, eventId };
}
