/** Live traffic of the demonstration: one event every three seconds, published through the API. */
import { makeRepeated } from "../shared/every.ts";
import type { CallApi } from "./demo-api.ts";
import type { Sample } from "./week.ts";
import { reasonOf } from "../shared/message-of.ts";

const EVERY_MS = 3_000;

/** @param call with the permission to publish. */
export function makeTraffic(samples: readonly Sample[], call: CallApi, print: (line: string) => void) {
  return makeRepeated(
    EVERY_MS,
    async () => {
      const sample = samples[Math.floor(Math.random() * samples.length)];
      if (sample !== undefined) await call("POST", "/api/events", sample);
    },
    (error) => print(`demonstration: no event was published: ${reasonOf(error)}`),
  );
}
