/** Which events a test may be of, and the request that it makes. */
import type { Endpoint, EventType, Schemas } from "../../api/client.ts";
import { versionedName, versionFor } from "../../endpoints/subscription.ts";

/** The fault of a text that is no object in JSON; null for one that is. */
export function jsonFault(text: string): "syntax" | "object" | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? null : "object";
  } catch {
    return "syntax";
  }
}

/** `text` is JSON. */
export type Test = { eventType: string; text: string; isDry: boolean };

/** The data goes as it is: parsing would change its greatest numbers. */
export function jsonOf({ eventType, text, isDry }: Test): string {
  return `{"event_type":${JSON.stringify(eventType)},"data":${text},"dry_run":${isDry}}`;
}

type Choice = { name: string; entry: EventType };

/** The types that this endpoint gets, each in the version that it gets. */
export function choicesOf({ events }: Endpoint, types: readonly EventType[]): Choice[] {
  return [...Map.groupBy(types, ({ type }) => type).values()].flatMap((versions) => {
    const version = versionFor(events, versions);
    const entry = versions.find((one) => one.version === version);
    return entry === undefined ? [] : [{ name: versionedName(entry, versions), entry }];
  });
}

/** `data.items[0].price` for the path of an issue. */
export function pathText(path: Schemas["Issue"]["path"]): string {
  return path.reduce<string>(
    (text, part) =>
      /^\d+$/.test(String(part)) ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${part}`,
    "",
  );
}
