import { serviceEvents } from "../events/built-in-catalog.ts";
import type { Catalog } from "../events/catalog.ts";
import type { CatalogEntry } from "../events/catalog-entry.ts";
import { shellWord } from "../shared/shell-word.ts";
import { groupOf } from "./week.ts";

const MOVED = `
The receiver's usual port is taken by another program, so it has one of its own
this time: endpoints that were made at earlier starts lead nowhere. To have the
usual one again, end that program and start anew.
`;

/** An event that the catalog in use accepts. */
export type SampleEvent = { type: string; pattern: string; data: Record<string, unknown> };

/** The event of the printed lines: one of the built-in catalog, or of the operator's own. */
export function sampleEvent(
  catalog: Pick<Catalog, "types" | "faultsOf">,
  isOwnCatalog: boolean,
): SampleEvent {
  if (!isOwnCatalog) {
    return { type: "invoice.paid", pattern: "invoice.*", data: { invoice_id: "inv_1", amount: 12900 } };
  }
  const current = plainEntries(catalog);
  const entry = current.find((one) => catalog.faultsOf(one, one.payloadShape).length === 0) ?? current[0];
  if (entry === undefined) throw new Error("a catalog has at least the events of Postern itself");
  const { type, payloadShape } = entry;
  const dot = type.indexOf(".");
  return { type, pattern: dot === -1 ? type : `${type.slice(0, dot)}.*`, data: payloadShape };
}

/** Events of the demonstration's own endpoints: of other kinds than the printed lines publish. */
export function liveSamples(
  catalog: Pick<Catalog, "types" | "faultsOf">,
  printed: SampleEvent,
): { type: string; data: Record<string, unknown> }[] {
  const own = new Set(serviceEvents.map(({ type }) => type));
  return plainEntries(catalog)
    .filter(({ type }) => !own.has(type) && groupOf(type) !== groupOf(printed.type))
    .filter((entry) => catalog.faultsOf(entry, entry.payloadShape).length === 0)
    .map(({ type, payloadShape }) => ({ type, data: payloadShape }));
}

/** Types that are published by their data alone. */
function plainEntries({ types }: Pick<Catalog, "types">): CatalogEntry[] {
  return [...types.values()]
    .filter(({ newest, versions }) => versions.size === 1 && newest.version === 1 && !newest.deprecated)
    .map(({ newest }) => newest);
}

/** JSON that may stand between single quotes of a shell, and of SQL. */
function quotable(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /['$`!]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Text that may stand between double quotes of a shell. */
function doubleQuotable(text: string): string {
  return text.replaceAll(/["\\]/g, (one) => `\\${one}`);
}

type Welcome = {
  apiUrl: string;
  /** Opens the portal on this machine. */
  portalCode: string;
  receiver: { url: string; isMoved: boolean };
  secretsFile: string;
  /** Holds the tokens and the database's URL. */
  envFile: string;
  /** Where it is not the usual one. */
  dataDir: string | null;
  today: string;
  tenant: string;
  sample: SampleEvent;
};

/** What `npm start` prints: everything a newcomer needs to see a webhook arrive. */
export function welcomeText(at: Welcome): string {
  const user = '-H "Authorization: Bearer $USER_TOKEN"';
  const service = '-H "Authorization: Bearer $SERVICE_TOKEN"';
  const { type, pattern, data } = at.sample;
  const endpoint = JSON.stringify({ url: at.receiver.url, events: [pattern] });
  const [event, sqlData] = [quotable({ type, data }), doubleQuotable(quotable(data))];
  const folder = at.dataDir === null ? "" : `DATA_DIR=${shellWord(at.dataDir)} `;
  return `
${addresses(at)}
Four endpoints have a week of history, and get an event every three seconds.

Try it in another terminal. Each of these is one line to paste.

First, the tokens:

. ${shellWord(at.envFile)}

1. Create an endpoint that leads to the demonstration receiver:

curl -s ${at.apiUrl}/api/webhooks ${user} -d '${endpoint}'

2. Publish an event, and watch it arrive here:

curl -s ${at.apiUrl}/api/events ${service} -d '${event}'

3. Read the delivery log:

curl -s ${at.apiUrl}/api/deliveries ${user}

4. Publish from SQL, in a transaction of your own (with psql, if you have it):

psql "$DATABASE_URL" -c "SELECT postern.publish('${at.tenant}', '${type}', '${sqlData}')"

5. Export the log, in this folder:

${folder}npm run -s postern -- storage export --tenant ${at.tenant} --from ${at.today} --output log.zip --url ${at.apiUrl}

Ctrl-C stops everything; the next start finds the data again.
`;
}

function addresses(at: Welcome): string {
  return `Postern is running.

  Portal       ${at.apiUrl}/portal#code=${at.portalCode}
  API          ${at.apiUrl}
  Health       ${at.apiUrl}/health
  Reference    ${at.apiUrl}/reference  (the API, to read and to try; also as /openapi.json)
  Receiver     ${at.receiver.url}  (a demonstration; it prints what arrives)
  Secrets      ${at.secretsFile}  (made for this demonstration; only you can read it)
  Tokens       ${at.envFile}  (for 12 hours; a tenant's user and a service)
${at.receiver.isMoved ? MOVED : ""}`;
}
