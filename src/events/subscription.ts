/**
 * Which subscription patterns match which event types. A pattern is an exact
 * type, a prefix followed by `.*` (one or more further segments), or `*`.
 */

const SEGMENTS = "[a-zA-Z0-9_]+(?:\\.[a-zA-Z0-9_]+)*";
export const EVENT_TYPE_PATTERN = `^${SEGMENTS}$`;
export const SUBSCRIPTION_PATTERN = `^(?:\\*|${SEGMENTS}(?:\\.\\*)?)$`;
const TYPE = new RegExp(EVENT_TYPE_PATTERN);
const PATTERN = new RegExp(SUBSCRIPTION_PATTERN);

export function isEventTypeName(text: string): boolean {
  return TYPE.test(text);
}

export function isPattern(text: string): boolean {
  return PATTERN.test(text);
}

/** Every pattern that matches the type: `a.b.c` gives `*`, `a.*`, `a.b.*` and `a.b.c`. */
export function patternsMatching(type: string): string[] {
  const patterns = ["*"];
  for (let dot = type.indexOf("."); dot !== -1; dot = type.indexOf(".", dot + 1)) {
    patterns.push(`${type.slice(0, dot)}.*`);
  }
  patterns.push(type);
  return patterns;
}

export function isSubscribed(subscription: readonly string[], type: string): boolean {
  const matching = patternsMatching(type);
  return subscription.some((pattern) => matching.includes(pattern));
}
