import { useState } from "react";
import type { Endpoint } from "../../api/client.ts";
import { useTexts } from "../../texts/texts.ts";
import { CopyButton } from "../../ui/copy.tsx";
import { Segments } from "../../ui/field.tsx";
import { languageName, snippetOf } from "./receivers.ts";
import { LANGUAGES, type Language } from "./tabs.ts";
import { texts } from "./texts.ts";

type VerifyProps = { endpoint: Endpoint; language: Language; onLanguage: (language: Language) => void };

/** Code that verifies this endpoint's requests, in the reader's language. */
export function Verify({ endpoint, language, onLanguage }: VerifyProps) {
  const t = useTexts(texts);
  const [extent, setExtent] = useState<"part" | "whole">("part");
  const { code, run } = snippetOf(language, extent, t.forEndpoint(placeOf(endpoint.url)));
  const command = `WEBHOOK_SECRETS='whsec_…' ${run}`;
  return (
    <div className="max-w-4xl space-y-4">
      <p className="max-w-2xl text-muted">{t.verifyAbout}</p>
      <div className="max-w-full overflow-x-auto">
        <Segments
          label={t.language}
          value={language}
          options={LANGUAGES.map((value) => ({ value, label: languageName(value) }))}
          onChoose={onLanguage}
        />
      </div>
      <div className="overflow-hidden rounded-xl border border-line bg-surface">
        <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
          <div className="flex-1">
            <Segments
              label={t.extent}
              value={extent}
              options={[
                { value: "part", label: t.part },
                { value: "whole", label: t.whole },
              ]}
              onChoose={setExtent}
            />
          </div>
          <CopyButton text={code} />
        </div>
        {extent === "part" ? (
          <p className="border-b border-line px-3 py-2 text-sm text-muted">{t.partAbout}</p>
        ) : (
          <div className="flex items-center gap-2 border-b border-line px-3 py-2">
            <code aria-label={t.run} className="min-w-0 flex-1 font-mono text-xs break-all">
              {command}
            </code>
            <CopyButton text={command} />
          </div>
        )}
        <pre
          tabIndex={0}
          role="region"
          aria-label={t.code}
          translate="no"
          className="max-h-[60dvh] overflow-auto bg-sunken p-4 font-mono text-xs -outline-offset-2"
        >
          {code}
        </pre>
      </div>
    </div>
  );
}

/** Host and path of a URL: neither a secret in its query nor anything that ends a comment gets into code. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return "";
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
