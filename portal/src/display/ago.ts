type Unit = "second" | "minute" | "hour" | "day";

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;

/** A distance from now in its greatest unit, rounded; never 60 minutes or 24 hours. */
export function agoOf(seconds: number): [count: number, unit: Unit] {
  const distance = Math.abs(seconds);
  if (distance < MINUTE_S - 0.5) return [Math.round(seconds), "second"];
  if (distance < HOUR_S - MINUTE_S / 2) return [Math.round(seconds / MINUTE_S), "minute"];
  if (distance < DAY_S - HOUR_S / 2) return [Math.round(seconds / HOUR_S), "hour"];
  return [Math.round(seconds / DAY_S), "day"];
}
