/** Tests of an endpoint: checking data without sending, and sending. */
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, bodyOf, type Schemas } from "../../api/client.ts";
import { jsonFault, jsonOf, type Test } from "./test-request.ts";

export type Tested = {
  at: Date;
  eventType: string;
  answer: Extract<Schemas["TestEndpointAnswer"], { latency_ms: number }>;
  /** Its row in the log; null where that could not be read. */
  delivery: Schemas["Delivery"] | null;
};

const PAUSE_MS = 400;

function post({ endpointId, ...test }: Test & { endpointId: string }, signal?: AbortSignal) {
  return api.POST("/api/webhooks/{id}/test", {
    params: { path: { id: endpointId } },
    body: { event_type: test.eventType },
    bodySerializer: () => jsonOf(test),
    ...(signal && { signal }),
  });
}

/** What would be sent, or why it would be refused; asked again when one stops typing. */
export function useDryRun(endpointId: string, eventType: string, text: string) {
  const settled = useSettled(text);
  return useQuery({
    queryKey: ["test-dry-run", endpointId, eventType, settled],
    async queryFn({ signal }) {
      const answer = await bodyOf(post({ endpointId, eventType, text: settled, isDry: true }, signal));
      if (!("ok" in answer)) throw new Error("a dry run was sent");
      return answer.body;
    },
    enabled: jsonFault(settled) === null,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    meta: { isStill: true },
  });
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

export function useSend(endpointId: string, eventType: string, onTested: (tested: Tested) => void) {
  return useMutation({
    async mutationFn(text: string): Promise<Tested> {
      const at = new Date();
      const { data: answer, response } = await post({ endpointId, eventType, text, isDry: false });
      if (answer === undefined || !("latency_ms" in answer)) throw new Error("a test was not sent");
      const delivery = await read(response.headers.get("Delivery-Id")).catch(() => null);
      return { at, eventType, answer, delivery };
    },
    onSuccess: onTested,
  });
}

/** The test as the log has it, with headers. */
async function read(did: string | null): Promise<Schemas["Delivery"] | null> {
  if (did === null) return null;
  return (await bodyOf(api.GET("/api/deliveries/{did}", { params: { path: { did } } }))).delivery;
}
