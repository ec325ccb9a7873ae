import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type FormEvent } from "react";
import { api, asApiError, bodyOf, type Endpoint } from "../../api/client.ts";
import { endpointHealthQuery } from "../../api/queries.ts";
import { useFormat, useNow } from "../../display/format.ts";
import { nameOf } from "../../endpoints/endpoint-names.ts";
import { SecretDialog } from "../../endpoints/secret-dialog.tsx";
import { useStayWhile } from "../../endpoints/use-stay-while.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { AskDialog } from "../../ui/dialog.tsx";
import { faultIn, Field, INPUT, leadToFault } from "../../ui/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { FormError } from "../../ui/states.tsx";
import { GRACE_NAMES, graceSeconds, UNIT_NAMES, type Grace, type Unit } from "./grace.ts";
import { texts } from "./texts.ts";

export function Rotation({ endpoint, mayRotate }: { endpoint: Endpoint; mayRotate: boolean }) {
  const t = useTexts(texts);
  return (
    <div className="max-w-2xl space-y-5">
      <Former endpointId={endpoint.id} />
      <p className="text-muted">{t.about}</p>
      {mayRotate ? (
        <RotateForm endpoint={endpoint} />
      ) : (
        <p className="flex gap-2.5 rounded-lg border border-line bg-surface px-4 py-3 text-muted">
          <Icon name="key" className="mt-0.5" />
          {t.ownersOnly}
        </p>
      )}
    </div>
  );
}

/** Until when the former secret signs, and for how many seconds more; null where there is none. */
function useFormer(endpointId: string): { until: Date; leftS: number } | null {
  const { data: health, dataUpdatedAt } = useQuery(endpointHealthQuery(endpointId));
  const now = useNow();
  if (typeof health?.previous_secret_until !== "string") return null;
  const until = new Date(health.previous_secret_until);
  // The shared time may be older than the answer.
  const leftS = (until.getTime() - Math.max(now.getTime(), dataUpdatedAt)) / 1000;
  return leftS > 0 ? { until, leftS } : null;
}

/** How long the secret of before a rotation still signs. */
function Former({ endpointId }: { endpointId: string }) {
  const t = useTexts(texts);
  const format = useFormat();
  const former = useFormer(endpointId);
  if (former === null) return null;
  return (
    <div className="flex gap-3 rounded-lg bg-wait-soft px-4 py-3">
      <Icon name="clock" className="mt-0.5 text-wait" />
      <div>
        <p className="font-medium text-wait">{t.formerLeft(format.span(former.leftS))}</p>
        <p className="text-sm">{t.formerAbout(format.dateTime(former.until))}</p>
      </div>
    </div>
  );
}

type Wanted = { grace: Grace; count: string; unit: Unit; isOwn: boolean; secret: string };
const AT_FIRST: Wanted = { grace: "day", count: "2", unit: "days", isOwn: false, secret: "" };

function useRotation(endpointId: string, wanted: Wanted) {
  return useMutation({
    mutationFn: (seconds: number) =>
      bodyOf(
        api.POST("/api/webhooks/{id}/rotate-secret", {
          params: { path: { id: endpointId } },
          body: { grace_seconds: seconds, ...(wanted.isOwn && { secret: wanted.secret }) },
        }),
      ),
    // Nothing keeps the secret once this page is left.
    gcTime: 0,
  });
}

function RotateForm({ endpoint: { id: endpointId, url } }: { endpoint: Endpoint }) {
  const t = useTexts(texts);
  const format = useFormat();
  const [wanted, setWanted] = useState(AT_FIRST);
  const form = useRef<HTMLFormElement>(null);
  const queryClient = useQueryClient();
  const [asks, setAsks] = useState(false);
  const [isTried, setIsTried] = useState(false);
  const former = useFormer(endpointId);
  const rotation = useRotation(endpointId, wanted);
  useStayWhile(rotation.isPending || rotation.isSuccess);
  const seconds = graceSeconds(wanted.grace, wanted.count, wanted.unit);
  const set = (change: Partial<Wanted>): void => setWanted({ ...wanted, ...change });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setIsTried(true);
    if (seconds === null || (wanted.isOwn && wanted.secret === "")) return leadToFault(event.currentTarget);
    setAsks(true);
    // Another person may have rotated since: their grace period would end.
    void queryClient.invalidateQueries({ queryKey: endpointHealthQuery(endpointId).queryKey });
  };
  const rotate = (): void => {
    if (seconds !== null) rotation.mutate(seconds, { onSettled: () => setAsks(false) });
  };
  const close = (): void => {
    rotation.reset();
    setWanted(AT_FIRST);
    setIsTried(false);
  };
  const graceError = isTried && seconds === null ? t.graceError : undefined;
  const secretError = isTried && wanted.isOwn && wanted.secret === "" ? t.ownMissing : undefined;
  return (
    <form
      ref={form}
      onSubmit={submit}
      noValidate
      className="space-y-5 rounded-xl border border-line bg-surface p-4 sm:p-5"
    >
      <h2 className="text-lg font-semibold">{t.rotateTitle}</h2>
      <GraceChoice wanted={wanted} set={set} error={graceError} />
      <OwnSecret wanted={wanted} set={set} error={secretError ?? secretIssue(rotation.error)} />
      {secretIssue(rotation.error) === undefined && <FormError error={rotation.error} />}
      <Button type="submit" kind="primary" icon="retry">
        {t.rotate}
      </Button>
      <AskDialog
        isOpen={asks}
        onClose={() => setAsks(false)}
        onYes={rotate}
        isBusy={rotation.isPending}
        isDanger={seconds === 0}
        title={t.askTitle(nameOf(url))}
        // The new secret has it, or what was wrong with an own one.
        finalFocus={() => !rotation.isSuccess && (faultIn(form.current) ?? true)}
        about={
          <>
            <p>
              {seconds === 0
                ? t.askNow
                : t.askLater(
                    format.span(seconds ?? 0),
                    format.dateTime(new Date(Date.now() + (seconds ?? 0) * 1000)),
                  )}
            </p>
            {former !== null && <p className="mt-2">{t.askFormer}</p>}
          </>
        }
        yes={t.rotate}
      />
      {rotation.isSuccess && (
        <SecretDialog
          secret={rotation.data.secret}
          // As it was sent: another may have been chosen since.
          about={rotation.variables === 0 ? t.doneNow : t.doneLater(format.span(rotation.variables))}
          onClose={close}
        />
      )}
    </form>
  );
}

/** What the service says of an own secret. */
function secretIssue(error: unknown): string | undefined {
  if (error === null) return undefined;
  const issue = asApiError(error).issues.find(({ path }) => path.at(-1) === "secret");
  return issue?.message;
}

type PartProps = { wanted: Wanted; set: (change: Partial<Wanted>) => void; error: string | undefined };

function GraceChoice({ wanted, set, error }: PartProps) {
  const t = useTexts(texts);
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{t.grace}</legend>
      <p className="mb-2 text-sm text-muted">{t.graceAbout}</p>
      {GRACE_NAMES.map((grace) => (
        <label key={grace} className="flex items-baseline gap-2.5 py-1">
          <input
            type="radio"
            name="grace"
            checked={wanted.grace === grace}
            onChange={() => set({ grace })}
            className="size-3.5 shrink-0 translate-y-0.5"
          />
          <span>
            {t.graces[grace]} {grace === "none" && <span className="text-muted">{t.graceNone}</span>}
          </span>
        </label>
      ))}
      {wanted.grace === "own" && (
        <div className="mt-1 flex gap-2 pl-6">
          <input
            aria-label={t.graceCount}
            inputMode="numeric"
            autoComplete="off"
            aria-invalid={error !== undefined}
            aria-describedby="grace-error"
            value={wanted.count}
            onChange={({ target }) => set({ count: target.value })}
            className={`${INPUT} max-w-20`}
          />
          <select
            aria-label={t.graceUnit}
            value={wanted.unit}
            onChange={({ target }) =>
              set({ unit: UNIT_NAMES.find((one) => one === target.value) ?? wanted.unit })
            }
            className={`${INPUT} max-w-32`}
          >
            {UNIT_NAMES.map((unit) => (
              <option key={unit} value={unit}>
                {t.units[unit]}
              </option>
            ))}
          </select>
        </div>
      )}
      <p id="grace-error" role="alert" className="mt-1 pl-6 text-sm text-bad empty:hidden">
        {error}
      </p>
    </fieldset>
  );
}

function OwnSecret({ wanted, set, error }: PartProps) {
  const t = useTexts(texts);
  return (
    <div>
      <label className="flex items-baseline gap-2.5">
        <input
          type="checkbox"
          checked={wanted.isOwn}
          onChange={({ target }) => set({ isOwn: target.checked })}
          className="size-3.5 shrink-0 translate-y-0.5"
        />
        {t.useOwn}
      </label>
      {wanted.isOwn && (
        <div className="mt-2 pl-6">
          <Field label={t.own} about={t.ownAbout} error={error}>
            {(wiring) => (
              <input
                {...wiring}
                autoComplete="off"
                spellCheck={false}
                value={wanted.secret}
                onChange={({ target }) => set({ secret: target.value })}
                className={`${INPUT} font-mono text-sm`}
              />
            )}
          </Field>
        </div>
      )}
    </div>
  );
}
