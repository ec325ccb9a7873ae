import { useFormat, useNow } from "../display/format.ts";

/** How long ago, and the exact time to whoever points at it. The clock that is compared with moves in steps, so a time may lie ahead of it. */
export function Ago({ at }: { at: string | Date }) {
  const format = useFormat();
  const now = useNow();
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={format.dateTime(date)}>
      {format.ago(date < now ? date : now, now)}
    </time>
  );
}
