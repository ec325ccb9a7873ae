import { useState, type FormEvent } from "react";
import type { Endpoint } from "../api/client.ts";
import { forgetDraft, keepDraft, readDraft } from "../session/drafts.ts";
import { useDraftName } from "../session/permissions.ts";
import { useTexts } from "../texts/texts.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Field, INPUT, leadToFault, Segments } from "../ui/field.tsx";
import { focusTitle } from "../ui/focus.ts";
import { FormError } from "../ui/states.tsx";
import { EventPicker } from "./event-picker.tsx";
import { texts } from "./endpoint-form-texts.ts";
import {
  draftOf,
  hasMore,
  inputOf,
  isRate,
  keptOf,
  lostPair,
  type Draft,
  type EndpointInput,
} from "./endpoint-input.ts";
import { PairRows } from "./pair-rows.tsx";
import { UrlCheck } from "./url-check.tsx";

const PAIRS = ["headers", "metadata"] as const;
const MODES = ["push", "pull"] as const;

type FormProps = {
  /** Null for a new one. */
  endpoint: Endpoint | null;
  isBusy: boolean;
  error: unknown;
  /** `first`: what the form began with, whatever was fetched since. */
  onSubmit: (input: EndpointInput, first: EndpointInput) => void;
};

export function EndpointForm({ endpoint, isBusy, error, onSubmit }: FormProps) {
  const t = useTexts(texts);
  const draftName = useDraftName(endpoint?.id ?? "new");
  const [{ first, input }, setDraft] = useState(
    () => draftOf(readDraft(draftName)) ?? draftAtFirst(endpoint),
  );
  const [isTaken, setIsTaken] = useState(() => first !== input);
  const [isTried, setIsTried] = useState(false);
  const set = (change: Partial<EndpointInput>): void => {
    const draft = { first, input: { ...input, ...change } };
    setDraft(draft);
    const kept = keptOf(draft);
    if (kept === null) forgetDraft(draftName);
    else keepDraft(draftName, kept);
  };
  const discard = (): void => {
    forgetDraft(draftName);
    setDraft(draftAtFirst(endpoint));
    setIsTaken(false);
  };
  const urlError =
    input.url.trim() === "" ? t.urlNone : URL.canParse(input.url.trim()) ? undefined : t.urlBroken;
  const hasNoEvents = input.events.length === 0;
  const rateError = isRate(input.rate) ? undefined : t.rateBroken;
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setIsTried(true);
    const isWhole = PAIRS.every((kind) => lostPair(input[kind]) === undefined);
    if (urlError === undefined && rateError === undefined && !hasNoEvents && isWhole)
      return onSubmit(input, first);
    leadToFault(event.currentTarget);
  };
  return (
    <form onSubmit={submit} noValidate className="max-w-2xl space-y-6">
      {isTaken && (
        <div role="status" className="flex items-center gap-3 rounded-lg bg-wait-soft px-4 py-2">
          <p className="flex-1">{t.draft}</p>
          <Button
            small
            onClick={() => {
              focusTitle();
              discard();
            }}
          >
            {t.discard}
          </Button>
        </div>
      )}
      <Field
        label={t.url}
        about={<UrlCheck url={input.url} isUnchanged={input.url === first.url} />}
        error={isTried ? urlError : undefined}
      >
        {(wiring) => (
          <input
            {...wiring}
            name="url"
            // A new endpoint begins with it: the page gives it the focus in place of its title.
            data-begin={endpoint === null ? true : undefined}
            type="url"
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            placeholder="https://example.com/webhooks"
            value={input.url}
            onChange={({ target }) => set({ url: target.value })}
            className={INPUT}
          />
        )}
      </Field>
      <Field label={t.description} about={t.descriptionAbout}>
        {(wiring) => (
          <input
            {...wiring}
            value={input.description}
            onChange={({ target }) => set({ description: target.value })}
            className={INPUT}
          />
        )}
      </Field>
      <EventPicker
        label={t.events}
        patterns={input.events}
        onChange={(events) => set({ events })}
        isMissing={isTried && hasNoEvents}
      />
      <More input={input} isOpen={hasMore(first)} isTried={isTried} rateError={rateError} onChange={set} />
      <FormError error={error} />
      <div className="flex gap-2 border-t border-line pt-4">
        <Button type="submit" kind="primary" isBusy={isBusy}>
          {endpoint === null ? t.create : t.save}
        </Button>
        {endpoint === null ? (
          <LinkButton to="/endpoints" disabled={isBusy} onClick={discard}>
            {t.cancel}
          </LinkButton>
        ) : (
          <LinkButton
            to="/endpoints/$endpointId"
            params={{ endpointId: endpoint.id }}
            disabled={isBusy}
            onClick={discard}
          >
            {t.cancel}
          </LinkButton>
        )}
      </div>
    </form>
  );
}

function draftAtFirst(endpoint: Endpoint | null): Draft {
  const first = inputOf(endpoint);
  return { first, input: first };
}

type MoreProps = {
  input: EndpointInput;
  isOpen: boolean;
  isTried: boolean;
  rateError: string | undefined;
  onChange: (change: Partial<EndpointInput>) => void;
};

/** What most endpoints leave as it is. */
function More({ input, isOpen, isTried, rateError, onChange }: MoreProps) {
  const t = useTexts(texts);
  return (
    <details open={isOpen} className="group rounded-lg border border-line bg-surface">
      <summary className="px-4 py-2.5 font-medium">{t.more}</summary>
      <div className="space-y-5 border-t border-line p-4">
        <div>
          <p aria-hidden className="mb-1 font-medium">
            {t.mode}
          </p>
          <Segments
            label={t.mode}
            value={input.mode}
            options={MODES.map((value) => ({ value, label: t.modes[value] }))}
            onChoose={(mode) => onChange({ mode })}
          />
          <p className="mt-1 text-sm text-muted">{t.modeAbouts[input.mode]}</p>
        </div>
        <Field label={t.rate} about={t.rateAbout} error={rateError}>
          {(wiring) => (
            <input
              {...wiring}
              name="rate"
              inputMode="numeric"
              autoComplete="off"
              value={input.rate}
              onChange={({ target }) => onChange({ rate: target.value })}
              className={`${INPUT} max-w-32`}
            />
          )}
        </Field>
        {PAIRS.map((kind) => (
          <PairRows
            key={kind}
            kind={kind}
            pairs={input[kind]}
            isTried={isTried}
            onChange={(pairs) => onChange({ [kind]: pairs })}
          />
        ))}
      </div>
    </details>
  );
}
