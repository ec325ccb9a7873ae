/** The part of a time that the service counts: of a longer one, its last 400 days. */
const DAY_MS = 86_400_000;
const MOST_DAYS = 400;

/** `from` itself where all can be counted. */
export function countedFrom({ from, to }: { from: Date; to: Date | null }): Date {
  const leastMs = (to ?? new Date()).getTime() - MOST_DAYS * DAY_MS;
  if (from.getTime() >= leastMs) return from;
  // Of whole days, so that it stays as it is while time goes on; and less a day, as clocks differ.
  return new Date((Math.ceil(leastMs / DAY_MS) + 1) * DAY_MS);
}
