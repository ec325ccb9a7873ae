/**
 * Deliveries as they are logged: the stream of server-sent events, read with
 * fetch, since an EventSource sends no token. It ends every ten minutes by
 * itself and is opened again; the listener asks for what came in between, as far
 * as the newest page has it.
 */
import { api, type Schemas } from "../../api/client.ts";
import { failuresAfter, pauseMs, type Outcome } from "./tail-pauses.ts";

export type Row = Schemas["ListedDelivery"];
export type TailState = "watching" | "waiting";

type Listener = {
  /** From now on each delivery is told. */
  onOpen: (signal: AbortSignal) => void;
  onRow: (row: Row) => void;
  /** So many deliveries were left out; null where nobody knows how many. */
  onGap: (skipped: number | null) => void;
  onState: (state: TailState) => void;
};

/** The service pings every 15 seconds. A connection whose other end is gone reports no error: only the pings stop. */
const SILENT_MS = 45_000;

/** Watches until the answer is called. */
export function watchLog(endpointId: string | undefined, listener: Listener): () => void {
  const end = new AbortController();
  void keepWatching(endpointId, listener, end.signal);
  return () => end.abort();
}

async function keepWatching(
  endpointId: string | undefined,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  for (;;) {
    let outcome: Outcome = "unopened";
    const onOpen = (opened: AbortSignal): void => {
      outcome = "broken";
      listener.onOpen(opened);
    };
    await watchOnce(endpointId, { ...listener, onOpen }, signal).then(
      () => (outcome = "ended"),
      () => undefined,
    );
    if (signal.aborted) return;
    listener.onState("waiting");
    failures = failuresAfter(failures, outcome);
    await pause(pauseMs(failures), signal);
    if (signal.aborted) return;
  }
}

async function watchOnce(
  endpointId: string | undefined,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), SILENT_MS);
  };
  try {
    heard();
    const { data } = await api.GET("/api/deliveries/stream", {
      parseAs: "stream",
      signal: AbortSignal.any([signal, silent.signal]),
      params: { query: { ...(endpointId !== undefined && { endpoint_id: endpointId }) } },
    });
    if (data === undefined || data === null) throw new Error("the stream has no body");
    listener.onState("watching");
    listener.onOpen(signal);
    let rest = "";
    for await (const text of readText(data)) {
      heard();
      const messages = `${rest}${text}`.split("\n\n");
      rest = messages.pop() ?? "";
      for (const message of messages) tell(message, listener);
    }
  } finally {
    clearTimeout(timer);
  }
}

async function* readText(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.releaseLock();
  }
}

function tell(message: string, { onRow, onGap }: Listener): void {
  const [, event] = /^event: (.*)$/m.exec(message) ?? [];
  const [, data] = /^data: (.*)$/m.exec(message) ?? [];
  if (data === undefined) return;
  if (event === "delivery") onRow(JSON.parse(data));
  if (event === "gap") onGap(JSON.parse(data).skipped);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
