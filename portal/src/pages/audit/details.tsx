import type { Schemas } from "../../api/client.ts";
import { useFormat, type Format } from "../../display/format.ts";
import { useTexts } from "../../texts/texts.ts";
import { texts } from "./texts.ts";

type Entry = Schemas["AuditEntry"];
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const MAX_DEPTH = 3;

/** Each fact by its name: what else the entry tells, who it was and from where. */
export function Details({ entry }: { entry: Entry }) {
  const t = useTexts(texts);
  const format = useFormat();
  const facts: [name: string, value: string][] = [
    ...Object.entries(entry.details).map(([name, value]): [string, string] => [
      known(t.details, name) ?? name.replaceAll("_", " "),
      textOf(value, format, t),
    ]),
    [
      t.actor,
      entry.actor.sub === null
        ? t.actors[entry.actor.type]
        : `${t.actors[entry.actor.type]} ${entry.actor.sub}`,
    ],
    [t.exactTime, format.dateTime(new Date(entry.at))],
    ...optional(t.endpointId, entry.endpoint_id),
    ...optional(t.address, entry.address),
    ...optional(t.requestId, entry.request_id),
  ];
  return (
    <dl className="grid gap-x-6 gap-y-1 border-t border-line bg-sunken px-4 py-3 text-sm sm:grid-cols-[12rem_minmax(0,1fr)]">
      {facts.map(([name, value], place) => (
        <div key={place} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="mb-1 wrap-anywhere whitespace-pre-wrap sm:mb-0" translate="no">
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function optional(name: string, value: string | null): [string, string][] {
  return value === null ? [] : [[name, value]];
}

function known(names: { readonly [name: string]: string }, name: string): string | undefined {
  return Object.hasOwn(names, name) ? names[name] : undefined;
}

function textOf(value: unknown, format: Format, t: { yes: string; no: string }, depth = 0): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? t.yes : t.no;
  if (typeof value === "number") return format.number(value);
  if (typeof value === "string") return INSTANT.test(value) ? format.dateTime(new Date(value)) : value;
  if (depth >= MAX_DEPTH) return JSON.stringify(value);
  if (Array.isArray(value)) return value.map((one) => textOf(one, format, t, depth + 1)).join(", ") || "–";
  return Object.entries(Object(value))
    .map(([name, one]) => `${name}: ${textOf(one, format, t, depth + 1)}`)
    .join("\n");
}
