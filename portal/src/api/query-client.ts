import { MutationCache, notifyManager, QueryClient } from "@tanstack/react-query";
import { asApiError, type ApiError } from "./client.ts";

const MAX_PAUSE_MS = 10_000;

// The library's own way is a timer. The second click of a double click may come before it, and would start
// a mutation twice, because the button is not yet busy.
notifyManager.setScheduler(queueMicrotask);

function isOutdated({ kind }: ApiError): boolean {
  return kind === "absent" || kind === "refused";
}

/** A service that is away is asked again until it is back; any other "no" is shown at once. */
export const queryClient = new QueryClient({
  mutationCache: new MutationCache({
    // A change may be seen on any page, and it is rare. After the mutation's own handlers, which may leave the page.
    onSettled(_answer, error) {
      // A change that is refused may have been made from what is so no more, as an endpoint or an event type that is gone.
      if (error === null || isOutdated(asApiError(error)))
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
