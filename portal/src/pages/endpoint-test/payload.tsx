import { useState } from "react";
import { asApiError, type Schemas } from "../../api/client.ts";
import { MessageView } from "../../deliveries/message-view.tsx";
import { forgetDraft, keepDraft, readDraft } from "../../session/drafts.ts";
import { useDraftName } from "../../session/permissions.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Field, INPUT } from "../../ui/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { FormError } from "../../ui/states.tsx";
import { jsonFault, pathText } from "./test-request.ts";
import { texts } from "./texts.ts";
import { useDryRun, useSend, type Tested } from "./use-tests.ts";

type PayloadProps = {
  endpointId: string;
  eventType: string;
  example: unknown;
  onTested: (tested: Tested) => void;
};

/** The data of a test, checked while one types, and what is sent of it. */
export function Payload({ endpointId, eventType, example, onTested }: PayloadProps) {
  const t = useTexts(texts);
  const original = JSON.stringify(example, null, 2);
  const draftName = useDraftName(`${endpointId} ${eventType}`);
  const [text, setTyped] = useState(() => textOf(readDraft(draftName)) ?? original);
  const setText = (typed: string): void => {
    setTyped(typed);
    if (typed === original) forgetDraft(draftName);
    else keepDraft(draftName, typed);
  };
  const fault = jsonFault(text);
  const dryRun = useDryRun(endpointId, eventType, text);
  const send = useSend(endpointId, eventType, onTested);
  const issues = dryRun.error === null ? [] : asApiError(dryRun.error).issues;
  const hasIssues = fault === null && issues.length > 0;
  return (
    <>
      <Field
        label={t.data}
        about={t.dataAbout}
        error={fault === null ? (hasIssues ? t.issues : undefined) : t.faults[fault]}
      >
        {(wiring) => (
          <textarea
            {...wiring}
            rows={Math.min(18, Math.max(8, text.split("\n").length + 1))}
            spellCheck={false}
            autoComplete="off"
            value={text}
            onChange={({ target }) => setText(target.value)}
            className={`${INPUT} h-auto py-2 font-mono text-xs [unicode-bidi:plaintext]`}
          />
        )}
      </Field>
      {hasIssues && <Issues issues={issues} />}
      {fault === null && issues.length === 0 && <FormError error={dryRun.error} />}
      <FormError error={send.error} />
      <div className="flex flex-wrap gap-2">
        <Button
          kind="primary"
          icon="send"
          isBusy={send.isPending}
          disabled={fault !== null || hasIssues}
          onClick={() => send.mutate(text)}
        >
          {t.send}
        </Button>
        {text !== original && <Button onClick={() => setText(original)}>{t.reset}</Button>}
      </div>
      {fault === null && dryRun.error === null && dryRun.data !== undefined && (
        <MessageView title={t.exact} headers={null} body={dryRun.data} absent={null} />
      )}
    </>
  );
}

function textOf(kept: unknown): string | null {
  return typeof kept === "string" ? kept : null;
}

function Issues({ issues }: { issues: readonly Schemas["Issue"][] }) {
  const t = useTexts(texts);
  return (
    <ul aria-label={t.issues} className="space-y-1 rounded-lg bg-bad-soft px-4 py-3">
      {issues.map(({ path, message }, index) => (
        <li key={index} className="flex gap-2.5 wrap-anywhere">
          <Icon name="close" className="mt-0.5 text-bad" />
          <span className="min-w-0">
            <code translate="no" className="font-mono text-xs font-medium">
              {pathText(path)}
            </code>{" "}
            {message}
          </span>
        </li>
      ))}
    </ul>
  );
}
