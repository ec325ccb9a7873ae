import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { EventType } from "../../api/client.ts";
import { endpointsQuery } from "../../api/queries.ts";
import { useFormat } from "../../display/format.ts";
import { versionedName, versionFor } from "../../endpoints/subscription.ts";
import { usePermissions } from "../../session/permissions.ts";
import { useTexts } from "../../texts/texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { LinkButton } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { Segments } from "../../ui/field.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { UrlText } from "../../ui/url-text.tsx";
import type { Listed } from "./listed.ts";
import { texts } from "./texts.ts";
import { typeScriptOf } from "./typescript.ts";
import { VIEWS, type View } from "./views.ts";

type EntryProps = {
  listed: Listed;
  entry: EventType;
  view: View;
  onVersion: (entry: EventType) => void;
  onView: (view: View) => void;
};

/** One version of an event type, and who gets it. */
export function EventEntry({ listed, entry, view, onVersion, onView }: EntryProps) {
  const t = useTexts(texts);
  const { versions } = listed;
  return (
    <article className="min-w-0">
      <header className="mb-4">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h2 className="min-w-0 text-lg font-semibold wrap-anywhere">{entry.title}</h2>
          {entry.deprecated && <Badge tone="wait">{t.deprecated}</Badge>}
          {entry.preview && <Badge tone="accent">{t.preview}</Badge>}
        </div>
        <div className="mt-1 flex flex-wrap items-center gap-2">
          <code translate="no" className="min-w-0 font-mono text-sm wrap-anywhere text-muted select-all">
            {versionedName(entry, versions)}
          </code>
          <CopyButton text={versionedName(entry, versions)} label={t.copyName} />
        </div>
        {entry.description !== "" && <p className="mt-3 max-w-2xl wrap-anywhere">{entry.description}</p>}
        {entry.deprecated && <Ending entry={entry} />}
      </header>
      {versions.length > 1 && (
        <div className="mb-4 max-w-full overflow-x-auto">
          <Segments
            label={t.version}
            value={String(entry.version)}
            options={versions.map(({ version }) => ({
              value: String(version),
              label: t.versionOf(String(version)),
            }))}
            onChoose={(chosen) => {
              const next = versions.find(({ version }) => String(version) === chosen);
              if (next !== undefined) onVersion(next);
            }}
          />
        </div>
      )}
      <Shape entry={entry} view={view} onView={onView} />
      <Receivers listed={listed} entry={entry} />
    </article>
  );
}

function Ending({ entry: { deprecated_since: since, sunset } }: { entry: EventType }) {
  const t = useTexts(texts);
  const format = useFormat();
  return (
    <p className="mt-3 max-w-2xl rounded-lg bg-wait-soft px-4 py-2.5 text-wait">
      {since === undefined ? t.isDeprecated : t.deprecatedSince(format.date(new Date(since)))}{" "}
      {sunset === undefined ? t.noSunset : t.sunset(format.date(new Date(sunset)))}
    </p>
  );
}

/** What its data looks like, in the chosen form. */
function Shape({ entry, view, onView }: { entry: EventType; view: View; onView: (view: View) => void }) {
  const t = useTexts(texts);
  const shown = useMemo(() => shapeOf(entry, view), [entry, view]);
  return (
    <section aria-label={t.data} className="overflow-hidden rounded-xl border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        <div className="flex-1">
          <Segments
            label={t.view}
            value={view}
            options={VIEWS.map((value) => ({ value, label: t.views[value] }))}
            onChoose={onView}
          />
        </div>
        {shown !== null && <CopyButton text={shown} {...(view === "typescript" && { label: t.copyType })} />}
      </div>
      {shown === null ? (
        <p className="p-4 text-muted">{t.noSchema}</p>
      ) : (
        <pre
          tabIndex={0}
          role="region"
          aria-label={t.views[view]}
          translate="no"
          className="max-h-112 overflow-auto bg-sunken p-4 font-mono text-xs -outline-offset-2 [unicode-bidi:plaintext]"
        >
          {shown}
        </pre>
      )}
    </section>
  );
}

function shapeOf(entry: EventType, view: View): string | null {
  if (view === "typescript") return typeScriptOf(entry);
  const shape = view === "example" ? entry.payloadShape : entry.schema;
  return shape === undefined ? null : JSON.stringify(shape, null, 2);
}

const MAX_SHOWN = 50;

/** The endpoints whose subscription matches. */
function Receivers({ listed: { versions }, entry }: { listed: Listed; entry: EventType }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { mayWrite } = usePermissions();
  const { data, error, refetch } = useQuery(endpointsQuery);
  const getting = (data ?? []).filter(({ events }) => versionFor(events, versions) === entry.version);
  return (
    <section className="mt-6">
      <h3 className="mb-2 font-semibold">
        {t.receivers}
        {data !== undefined && (
          <span className="tabular ml-2 font-normal text-faint">{format.number(getting.length)}</span>
        )}
      </h3>
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <Failed error={error} onRetry={() => void refetch()} />
        )
      ) : getting.length === 0 ? (
        <p className="text-muted">{t.noReceivers}</p>
      ) : (
        <ul className="divide-y divide-line rounded-xl border border-line bg-surface">
          {getting.slice(0, MAX_SHOWN).map(({ id, url, enabled }) => (
            <li key={id} className="flex items-center gap-3 px-4 py-2">
              <Link
                to="/endpoints/$endpointId"
                params={{ endpointId: id }}
                className="min-w-0 flex-1 wrap-anywhere hover:underline"
              >
                <UrlText url={url} />
              </Link>
              {!enabled && <Badge tone="plain">{t.disabled}</Badge>}
              {mayWrite && (
                <LinkButton
                  small
                  icon="test"
                  to="/endpoints/$endpointId/test"
                  params={{ endpointId: id }}
                  search={{ type: versionedName(entry, versions) }}
                >
                  {t.test}
                </LinkButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {getting.length > MAX_SHOWN && (
        <p className="mt-2 text-sm text-muted">
          {t.moreReceivers(format.number(getting.length - MAX_SHOWN))}
        </p>
      )}
    </section>
  );
}
