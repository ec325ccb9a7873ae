/** How far a page looks back, as its URL says it. */
const DAY_MS = 86_400_000;
export const RANGE_MS = { "24h": DAY_MS, "7d": 7 * DAY_MS, "30d": 30 * DAY_MS } as const;
export type Range = keyof typeof RANGE_MS;
export const RANGES = ["24h", "7d", "30d"] as const satisfies readonly Range[];
