import { useState, type FormEvent } from "react";
import type { Endpoint } from "../api/client.ts";
import { useTexts } from "../texts/texts.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Field, INPUT } from "../ui/field.tsx";
import { FormError } from "../ui/states.tsx";
import { EventPicker } from "./event-picker.tsx";
import { texts } from "./endpoint-form-texts.ts";
import { inputOf, isRate, requestOf, type EndpointInput } from "./endpoint-input.ts";
import { HeaderRows } from "./header-rows.tsx";
import { UrlCheck } from "./url-check.tsx";

type FormProps = {
  /** Null for a new one. */
  endpoint: Endpoint | null;
  isBusy: boolean;
  error: unknown;
  onSubmit: (request: ReturnType<typeof requestOf>) => void;
};

export function EndpointForm({ endpoint, isBusy, error, onSubmit }: FormProps) {
  const t = useTexts(texts);
  const [input, setInput] = useState(() => inputOf(endpoint));
  const [isTried, setIsTried] = useState(false);
  const set = (change: Partial<EndpointInput>): void => setInput({ ...input, ...change });
  const urlError =
    input.url.trim() === "" ? t.urlNone : URL.canParse(input.url.trim()) ? undefined : t.urlBroken;
  const hasNoEvents = input.events.length === 0;
  const rateError = isRate(input.rate) ? undefined : t.rateBroken;
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setIsTried(true);
    if (urlError === undefined && rateError === undefined && !hasNoEvents) return onSubmit(requestOf(input));
    const name = urlError !== undefined ? "url" : hasNoEvents ? "all-events" : "rate";
    event.currentTarget.querySelector<HTMLInputElement>(`input[name=${name}]`)?.focus();
  };
  const hasMore = input.rate !== "" || input.headers.length > 0;
  return (
    <form onSubmit={submit} noValidate className="max-w-2xl space-y-6">
      <Field
        label={t.url}
        about={<UrlCheck url={input.url} isUnchanged={input.url === endpoint?.url} />}
        error={isTried ? urlError : undefined}
      >
        {(wiring) => (
          <input
            {...wiring}
            name="url"
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
      <details open={hasMore} className="group rounded-lg border border-line bg-surface">
        <summary className="px-4 py-2.5 font-medium">{t.more}</summary>
        <div className="space-y-5 border-t border-line p-4">
          <Field label={t.rate} about={t.rateAbout} error={rateError}>
            {(wiring) => (
              <input
                {...wiring}
                name="rate"
                inputMode="numeric"
                autoComplete="off"
                value={input.rate}
                onChange={({ target }) => set({ rate: target.value })}
                className={`${INPUT} max-w-32`}
              />
            )}
          </Field>
          <HeaderRows headers={input.headers} onChange={(headers) => set({ headers })} />
        </div>
      </details>
      <FormError error={error} />
      <div className="flex gap-2 border-t border-line pt-4">
        <Button type="submit" kind="primary" isBusy={isBusy}>
          {endpoint === null ? t.create : t.save}
        </Button>
        {endpoint === null ? (
          <LinkButton to="/endpoints">{t.cancel}</LinkButton>
        ) : (
          <LinkButton to="/endpoints/$endpointId" params={{ endpointId: endpoint.id }}>
            {t.cancel}
          </LinkButton>
        )}
      </div>
    </form>
  );
}
