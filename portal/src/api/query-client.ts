import { MutationCache, notifyManager, QueryClient } from "@tanstack/react-query";
import { asApiError } from "./client.ts";

const MAX_PAUSE_MS = 10_000;

// A button is busy before the second click of a double click: by its timer the library tells it too late.
notifyManager.setScheduler(queueMicrotask);

/** A service that is away is asked again until it is back; any other "no" is shown at once. */
export const queryClient = new QueryClient({
  mutationCache: new MutationCache({
    // A change may be seen on any page, and it is rare. After the mutation's own handlers, which may leave the page.
    onSettled(_answer, error) {
      // What a change did not find may be shown still.
      if (error === null || asApiError(error).kind === "absent")
        void queryClient.invalidateQueries({ predicate: ({ meta }) => meta?.["isStill"] !== true });
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      networkMode: "always",
      retry: (_count, error) => asApiError(error).isPassing,
      retryDelay: (count) => Math.min(1000 * 2 ** count, MAX_PAUSE_MS),
    },
    mutations: { networkMode: "always" },
  },
});
