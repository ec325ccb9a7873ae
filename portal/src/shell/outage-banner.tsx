import { useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { useTexts } from "../texts/texts.ts";
import { Spinner } from "../ui/spinner.tsx";
import { texts } from "./texts.ts";

/** Says that the service is away, while what a page shows is asked for again and again. */
export function OutageBanner() {
  const t = useTexts(texts);
  const cache = useQueryClient().getQueryCache();
  const isAway = useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () => cache.getAll().some(({ state }) => state.fetchStatus === "fetching" && state.fetchFailureCount > 0),
  );
  return (
    <div role="status">
      {isAway && (
        <p className="flex items-center justify-center gap-2 bg-wait-soft px-4 py-2 text-sm text-wait">
          <Spinner />
          {t.outage}
        </p>
      )}
    </div>
  );
}
