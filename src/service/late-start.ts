import { together } from "../shared/ending.ts";
import type { Background } from "../shared/every.ts";

/** Parts that start once `ready` is fulfilled; stopped before that, never. */
export function startAfter(ready: Promise<void>, parts: readonly Background[]): Background {
  let state: "waiting" | "started" | "stopped" = "waiting";

  function startParts(): void {
    if (state !== "waiting") return;
    state = "started";
    for (const part of parts) part.start();
  }

  return {
    start: () => void ready.then(startParts),
    async stop() {
      const hasStarted = state === "started";
      state = "stopped";
      if (hasStarted) await together(parts, (part) => part.stop());
    },
  };
}
