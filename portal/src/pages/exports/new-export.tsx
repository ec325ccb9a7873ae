import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { api, asApiError, bodyOf } from "../../api/client.ts";
import { endpointsQuery, typeNamesQuery } from "../../api/queries.ts";
import { choicesOf } from "../../endpoints/endpoint-names.ts";
import { useDisplay } from "../../display/display.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, INPUT, leadToFault, Segments } from "../../ui/field.tsx";
import { pageTitle } from "../../ui/focus.ts";
import { useErrorText } from "../../ui/states.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { faultOf, timesOf } from "../../ui/own-times.ts";
import { TimeFields } from "../../ui/time-fields.tsx";
import { toast } from "../../ui/toast.tsx";
import {
  FORMATS,
  ownTime,
  requestOf,
  TIME_NAMES,
  wantedOf,
  type Chosen,
  type Request,
  type Wanted,
} from "./export-request.ts";
import { EXPORT_STATUSES } from "./kinds.ts";
import { texts } from "./texts.ts";

export function NewExport({ chosen, onClose }: { chosen: Chosen; onClose: () => void }) {
  const t = useTexts(texts);
  const ui = useTexts(uiTexts);
  const errorText = useErrorText();
  const { zone } = useDisplay();
  const [wanted, setWanted] = useState(() => wantedOf(chosen, zone, new Date()));
  const set = (change: Partial<Wanted>): void => setWanted((before) => ({ ...before, ...change }));
  const [isTried, setIsTried] = useState(false);
  const form = useRef<HTMLDivElement>(null);
  // The dialog closes before the mutation's state says so.
  const hasBegun = useRef(false);
  const begin = useMutation({
    mutationFn: (request: Request) => bodyOf(api.POST("/api/storage/exports", { body: request })),
    onSuccess() {
      hasBegun.current = true;
      toast({ title: t.begun });
      onClose();
    },
  });
  const submit = (): void => {
    setIsTried(true);
    const request = requestOf(wanted, zone, new Date());
    if (request !== null) begin.mutate(request);
    else if (form.current !== null) leadToFault(form.current);
  };
  const parts = { wanted, onChange: set, isTried };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.newTitle}
      // The button that opened it goes where there was no export yet.
      finalFocus={() => (hasBegun.current ? pageTitle() : null) ?? true}
      about={t.newAbout}
      footer={
        <>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" icon="archive" isBusy={begin.isPending} onClick={submit}>
            {t.begin}
          </Button>
        </>
      }
    >
      <div ref={form} className="mt-4 flex flex-col gap-4">
        <TimeChoice {...parts} />
        <LogChoice {...parts} />
        <FormatChoice {...parts} />
        <p role="alert" className="text-sm text-bad empty:hidden">
          {begin.error !== null && errorText(asApiError(begin.error)).about}
        </p>
      </div>
    </Dialog>
  );
}

type ChoiceProps = { wanted: Wanted; onChange: (change: Partial<Wanted>) => void; isTried: boolean };

function TimeChoice({ wanted, onChange, isTried }: ChoiceProps) {
  const t = useTexts(texts);
  const { zone } = useDisplay();
  return (
    <div>
      <p className="mb-1 font-medium">{t.time}</p>
      <div className="max-w-full overflow-x-auto">
        <Segments
          label={t.time}
          value={wanted.time}
          options={TIME_NAMES.map((value) => ({ value, label: t.times[value] }))}
          onChoose={(time) => onChange({ ...(time === "own" && ownTime(wanted, zone, new Date())), time })}
        />
      </div>
      {wanted.time === "own" && (
        <div className="mt-3">
          <TimeFields
            times={wanted}
            onChange={({ from, to }) => onChange({ from, to })}
            fault={isTried ? faultOf(timesOf(wanted, wanted.first, zone), null) : undefined}
          />
        </div>
      )}
    </div>
  );
}

function LogChoice({ wanted, onChange }: ChoiceProps) {
  const t = useTexts(texts);
  const ui = useTexts(uiTexts);
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const { data: types = [] } = useQuery(typeNamesQuery);
  const list = useId();
  const names = [...new Set(types.flatMap(({ type }) => [type, type.replace(/\.[^.]*$/, ".*")]))];
  return (
    <>
      <Field label={t.endpoint}>
        {(wiring) => (
          <select
            {...wiring}
            value={wanted.endpoint}
            onChange={({ target }) => onChange({ endpoint: target.value })}
            className={INPUT}
          >
            <option value="">{t.allEndpoints}</option>
            {choicesOf(endpoints).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t.type}>
          {(wiring) => (
            <>
              <input
                {...wiring}
                list={list}
                placeholder={t.allTypes}
                autoComplete="off"
                value={wanted.type}
                onChange={({ target }) => onChange({ type: target.value.trim() })}
                className={INPUT}
              />
              <datalist id={list}>
                {names.map((name) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <Field label={t.deliveryStatus}>
          {(wiring) => (
            <select
              {...wiring}
              value={wanted.status}
              onChange={({ target }) =>
                onChange({ status: EXPORT_STATUSES.find((one) => one === target.value) ?? "" })
              }
              className={INPUT}
            >
              <option value="">{t.anyStatus}</option>
              {EXPORT_STATUSES.map((status) => (
                <option key={status} value={status}>
                  {ui[status]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
    </>
  );
}

function FormatChoice({ wanted, onChange, isTried }: ChoiceProps) {
  const t = useTexts(texts);
  const error = useId();
  const isMissing = isTried && wanted.formats.length === 0;
  const toggle = (format: (typeof FORMATS)[number], isChosen: boolean): void =>
    onChange({
      formats: FORMATS.filter((one) => (one === format ? isChosen : wanted.formats.includes(one))),
    });
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{t.format}</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-1">
        {FORMATS.map((format) => (
          <label key={format} className="flex items-center gap-2 py-1">
            <input
              type="checkbox"
              checked={wanted.formats.includes(format)}
              aria-invalid={isMissing}
              aria-describedby={error}
              onChange={({ target }) => toggle(format, target.checked)}
            />
            {t.formats[format]}
          </label>
        ))}
      </div>
      <p className="text-sm text-muted">{t.formatAbout}</p>
      <p id={error} role="alert" className="text-sm text-bad empty:hidden">
        {isMissing && t.noFormat}
      </p>
    </fieldset>
  );
}
