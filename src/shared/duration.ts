const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of a text such as `500ms`, `90s`, `5m`, `2h` or `5d`; null for any other text. */
export function parseDurationMs(text: string): number | null {
  const match = /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(text);
  const unitMs = UNITS_MS[match?.[2] ?? ""];
  return match?.[1] === undefined || unitMs === undefined ? null : Number(match[1]) * unitMs;
}
