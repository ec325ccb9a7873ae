/**
 * Listens to PostgreSQL's NOTIFY, so that no worker has to poll fast: for new
 * due dispatches and outbox events, and for events that a person delivered while
 * they may wait in a lane. Both may be missed: polling finds the first, and the
 * second costs one more request.
 */
import { keepListening } from "../../database/keep-listening.ts";
import type { Background } from "../../shared/every.ts";
import { parseEndpointId, parseEventId } from "../../shared/id.ts";
import type { Log } from "../../telemetry/log.ts";
import { warnSeldom } from "../../telemetry/warn-seldom.ts";
import type { EventAtEndpoint } from "../queue.ts";
import { SLOTS_CHANGED, WAKE_CHANNEL } from "../channels.ts";
import { NEIGHBOURS, SLOT_COUNT } from "../slots.ts";

/** Many commits in a burst are one reason to look. */
const DEBOUNCE_MS = 10;

export function makeWakeListener(services: {
  databaseUrl: string;
  log: Log;
  /** Something is due, in this group of slots or in any. */
  wake: (group?: number) => void;
  slotsChanged: () => void;
  withdraw: (superseded: EventAtEndpoint) => void;
}): Background {
  const { databaseUrl, log, wake, slotsChanged, withdraw } = services;
  let listening: ReturnType<typeof keepListening> | null = null;
  let debounce: NodeJS.Timeout | null = null;
  let dueIn: Set<number> | "any" = new Set();

  function wakeSoon(group: number | "any"): void {
    if (group === "any") dueIn = group;
    else if (dueIn !== "any") dueIn.add(group);
    debounce ??= setTimeout(() => {
      debounce = null;
      const groups = dueIn === "any" ? [undefined] : dueIn;
      dueIn = new Set();
      for (const due of groups) wake(due);
    }, DEBOUNCE_MS);
  }

  function hear(payload: string): void {
    if (payload === SLOTS_CHANGED) return slotsChanged();
    const superseded = readSuperseded(payload);
    if (superseded === null) wakeSoon(readGroup(payload) ?? "any");
    else withdraw(superseded);
  }

  return {
    start() {
      const channel = { url: databaseUrl, role: "postern_worker", channel: WAKE_CHANNEL } as const;
      listening ??= keepListening(channel, {
        heard: hear,
        // For notifications that were sent while no connection listened.
        opened: () => wakeSoon("any"),
        failed: warnSeldom(log, "cannot listen for new dispatches; polling meanwhile"),
      });
    },
    async stop() {
      await listening?.stop();
      if (debounce !== null) clearTimeout(debounce);
    },
  };
}

/** The payload of accepted dispatches; null for others. */
function readGroup(payload: string): number | null {
  const group = Number(/^slots (\d{1,2})$/.exec(payload)?.[1]);
  return group < SLOT_COUNT / NEIGHBOURS ? group : null;
}

/** The payload that superseding sends; null for the empty one, which only wakes. */
function readSuperseded(payload: string): EventAtEndpoint | null {
  const [endpoint, event] = payload.split(" ");
  const endpointId = parseEndpointId(endpoint);
  const eventId = parseEventId(event);
  return endpointId === null || eventId === null ? null : { endpointId, eventId };
}
