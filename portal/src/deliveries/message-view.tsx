import { useMemo, useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { CopyButton } from "../ui/copy.tsx";
import { Segments } from "../ui/field.tsx";
import { texts } from "./drawer-texts.ts";

type MessageProps = {
  title: string;
  headers: Readonly<Record<string, string>> | null;
  body: string | null;
  /** In place of both, where there is no message. */
  absent: string | null;
  note?: string | null;
};

/** A request or an answer: its headers, and its body as it was or, for JSON, laid out. Both are text and nothing else. */
export function MessageView({ title, headers, body, absent, note = null }: MessageProps) {
  const t = useTexts(texts);
  const pretty = useMemo(() => prettyOf(body), [body]);
  const [view, setView] = useState<"pretty" | "raw">("pretty");
  const shown = view === "pretty" && pretty !== null ? pretty : body;
  return (
    <section className="mt-6">
      <div className="mb-2 flex min-h-8 flex-wrap items-center gap-2">
        <h3 className="flex-1 font-semibold">{title}</h3>
        {pretty !== null && (
          <Segments
            label={`${title}: ${t.view}`}
            value={view}
            options={[
              { value: "pretty", label: t.pretty },
              { value: "raw", label: t.raw },
            ]}
            onChoose={setView}
          />
        )}
        {body !== null && body !== "" && <CopyButton text={shown ?? ""} />}
      </div>
      {absent === null ? (
        <div className="overflow-hidden rounded-lg border border-line">
          <Headers headers={headers ?? {}} />
          <pre
            tabIndex={0}
            aria-label={`${title}: ${t.body}`}
            className="max-h-96 overflow-auto bg-sunken p-3 font-mono text-xs break-all whitespace-pre-wrap -outline-offset-2 [unicode-bidi:plaintext]"
          >
            {shown === null || shown === "" ? <span className="text-muted">{t.noBody}</span> : shown}
          </pre>
          {note !== null && <p className="border-t border-line px-3 py-1.5 text-xs text-muted">{note}</p>}
        </div>
      ) : (
        <p className="text-muted">{absent}</p>
      )}
    </section>
  );
}

function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const entries = Object.entries(headers);
  if (entries.length === 0) return null;
  return (
    <dl className="grid gap-x-4 border-b border-line p-3 font-mono text-xs sm:grid-cols-[auto_minmax(0,1fr)]">
      {entries.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="mb-1 break-all sm:mb-0.5">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** JSON with its lines and indents; null for what is none. Numbers beyond 2^53 would change, so such a body stays as it is. */
function prettyOf(body: string | null): string | null {
  if (body === null || !/^\s*[[{]/.test(body) || /\d{16}/.test(body)) return null;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return null;
  }
}
