/**
 * Just enough HTTP/1.1 for a load generator and a receiver that must cost
 * little beside what they measure: messages with Content-Length, one after
 * another on a kept-alive connection.
 */

export type Message = { head: string; body: string };

const HEAD_END = Buffer.from("\r\n\r\n");

/** Splits what a connection brings into messages; call it with each chunk. */
export function makeMessageReader(onMessage: (message: Message) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (;;) {
      const headEnd = pending.indexOf(HEAD_END);
      if (headEnd === -1) return;
      const head = pending.toString("latin1", 0, headEnd);
      const length = Number(headerOf(head, "content-length") ?? 0);
      const end = headEnd + HEAD_END.length + length;
      if (pending.length < end) return;
      const body = pending.toString("utf8", headEnd + HEAD_END.length, end);
      pending = pending.subarray(end);
      onMessage({ head, body });
    }
  };
}

/** A header's value; `name` in lower case. */
export function headerOf(head: string, name: string): string | undefined {
  const at = head.toLowerCase().indexOf(`\n${name}:`);
  if (at === -1) return undefined;
  const start = at + name.length + 2;
  const end = head.indexOf("\r", start);
  return head.slice(start, end === -1 ? undefined : end).trim();
}

/** Now in milliseconds since 1970 with fractions: the same clock in every process of the machine. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
