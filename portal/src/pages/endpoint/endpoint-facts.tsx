import type { ReactNode } from "react";
import type { Endpoint } from "../../api/client.ts";
import { useFormat } from "../../display/format.ts";
import { texts as endpointTexts } from "../../endpoints/texts.ts";
import { useTexts } from "../../texts/texts.ts";
import { texts } from "./texts.ts";

export function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  const t = useTexts(texts);
  const own = useTexts(endpointTexts);
  const format = useFormat();
  return (
    <section className="mt-8">
      <h2 className="mb-2 text-lg font-semibold">{t.settings}</h2>
      <dl className="divide-y divide-line rounded-xl border border-line bg-surface">
        <Fact name={t.url}>
          <span translate="no" className="font-mono text-xs break-all select-all">
            {endpoint.url}
          </span>
        </Fact>
        <Fact name={t.events}>
          {endpoint.events.includes("*") ? (
            own.allEvents
          ) : endpoint.events.length === 0 ? (
            own.noEvents
          ) : (
            <ul className="flex flex-wrap gap-1.5" translate="no">
              {endpoint.events.map((pattern) => (
                <li key={pattern} className="rounded bg-sunken px-1.5 py-0.5 font-mono text-xs wrap-anywhere">
                  {pattern}
                </li>
              ))}
            </ul>
          )}
        </Fact>
        {endpoint.rate_limit !== null && (
          <Fact name={t.rate}>{t.perSecond(format.number(endpoint.rate_limit))}</Fact>
        )}
        {endpoint.mode === "pull" && (
          <Fact name={t.fetching}>
            <code translate="no" className="font-mono text-xs break-all select-all">
              POST /api/webhooks/{endpoint.id}/leases
            </code>
          </Fact>
        )}
        <Pairs name={t.headers} pairs={endpoint.headers} />
        <Pairs name={t.metadata} pairs={endpoint.metadata} />
        <Fact name={t.created}>{format.dateTime(new Date(endpoint.created_at))}</Fact>
        <Fact name={t.id}>
          <span className="font-mono text-xs break-all select-all">{endpoint.id}</span>
        </Fact>
      </dl>
    </section>
  );
}

function Pairs({ name, pairs }: { name: string; pairs: Readonly<Record<string, string>> }) {
  const entries = Object.entries(pairs);
  if (entries.length === 0) return null;
  return (
    <Fact name={name}>
      {entries.map(([key, value]) => (
        <div key={key} className="font-mono text-xs break-all">
          <span className="text-muted">{key}:</span> {value}
        </div>
      ))}
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid gap-x-6 gap-y-0.5 px-4 py-2.5 sm:grid-cols-[9rem_minmax(0,1fr)]">
      <dt className="text-muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
