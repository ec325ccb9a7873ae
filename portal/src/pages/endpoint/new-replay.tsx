import { useMutation, useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { api, asApiError, bodyOf } from "../../api/client.ts";
import { endpointHealthQuery, typeNamesQuery } from "../../api/queries.ts";
import { useCauseTexts } from "../../deliveries/cause.ts";
import { useFormat } from "../../display/format.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Segments } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { useErrorText } from "../../ui/states.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { toast } from "../../ui/toast.tsx";
import type { Range } from "../../url/range.ts";
import {
  requestOf,
  SELECTS,
  TIME_NAMES,
  type Request,
  type Select as Selected,
  type Wanted,
} from "./replay-request.ts";
import { texts } from "./replay-texts.ts";

type NewReplayProps = {
  endpointId: string;
  select: Selected;
  /** Chosen at first: that which the page shows. */
  range: Range;
  cause: string | undefined;
  causes: readonly string[];
  onSelect: (select: Selected) => void;
  onStarted: (replayId: string) => void;
  onClose: () => void;
};

/** Chooses events, counts them before anything is sent, and starts the replay. */
export function NewReplay({
  endpointId,
  select,
  range,
  cause,
  causes,
  onSelect,
  onStarted,
  onClose,
}: NewReplayProps) {
  const t = useTexts(texts);
  const ui = useTexts(uiTexts);
  const errorText = useErrorText();
  const { short } = useCauseTexts();
  const { data: types = [] } = useQuery(typeNamesQuery);
  const [wanted, setWanted] = useState<Omit<Wanted, "select">>({ time: range, type: "", cause: cause ?? "" });
  // The time ends when it was chosen, so that what was counted is what is sent.
  const request = useMemo(
    () => requestOf(endpointId, { ...wanted, select }, Date.now()),
    [endpointId, select, wanted],
  );
  const count = useCount(request);
  // The dialog closes before the mutation's state says so.
  const hasStarted = useRef(false);
  const start = useMutation({
    mutationFn: () => bodyOf(api.POST("/api/replays", { body: request })),
    onSuccess(answer) {
      hasStarted.current = true;
      toast({ title: t.started });
      if ("replay" in answer) onStarted(answer.replay.id);
      onClose();
    },
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.newTitle}
      // The replay that was started has it then.
      finalFocus={() => !hasStarted.current}
      footer={
        <>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button
            kind="primary"
            icon="send"
            isBusy={start.isPending}
            disabled={count.data === undefined || count.data.count === 0}
            onClick={() => start.mutate()}
          >
            {t.run}
          </Button>
        </>
      }
    >
      <fieldset>
        <legend className="mb-1 font-medium">{t.select}</legend>
        {SELECTS.map((one) => (
          <label key={one} className="flex items-baseline gap-2.5 py-1">
            <input
              type="radio"
              name="select"
              checked={one === select}
              onChange={() => onSelect(one)}
              className="translate-y-0.5"
            />
            {t.selects[one]}
          </label>
        ))}
      </fieldset>
      <div className="mt-4">
        <p className="mb-1 font-medium">{t.time}</p>
        <Segments
          label={t.time}
          value={wanted.time}
          options={TIME_NAMES.map((value) => ({ value, label: t.times[value] }))}
          onChoose={(time) => setWanted({ ...wanted, time })}
        />
      </div>
      <div className="mt-4 flex flex-wrap gap-2">
        <Select label={t.type} value={wanted.type} onChange={(type) => setWanted({ ...wanted, type })}>
          <option value="">{t.anyType}</option>
          {types.map(({ type }) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </Select>
        {select === "failed" && (
          <Select
            label={t.cause}
            value={wanted.cause}
            onChange={(next) => setWanted({ ...wanted, cause: next })}
          >
            <option value="">{t.anyCause}</option>
            {[...new Set([...causes, ...(wanted.cause === "" ? [] : [wanted.cause])])].map((one) => (
              <option key={one} value={one}>
                {short(one)}
              </option>
            ))}
          </Select>
        )}
      </div>
      <Count count={count} />
      {select !== "missed" && <Pending endpointId={endpointId} />}
    </Dialog>
  );
}

function useCount(request: Request) {
  return useQuery({
    queryKey: ["replay-count", request],
    queryFn: async ({ signal }) => {
      const answer = await bodyOf(api.POST("/api/replays", { signal, body: { ...request, dry_run: true } }));
      if (!("count" in answer)) throw new Error("a dry run began a replay");
      return answer;
    },
  });
}

/** Why a failing endpoint may have nothing to send. */
function Pending({ endpointId }: { endpointId: string }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { data } = useQuery(endpointHealthQuery(endpointId));
  const pending = data?.pending ?? 0;
  return pending === 0 ? null : (
    <p className="mt-2 text-sm text-muted">{t.pending(format.number(pending), pending)}</p>
  );
}

function Count({ count: { data, error } }: { count: ReturnType<typeof useCount> }) {
  const t = useTexts(texts);
  const format = useFormat();
  const errorText = useErrorText();
  return (
    <p role="status" className="mt-4 flex min-h-11 items-center gap-2 rounded-lg bg-sunken px-3 py-2">
      {error !== null && <span className="text-bad">{errorText(asApiError(error)).about}</span>}
      {error === null && data === undefined && (
        <>
          <Spinner /> {t.counting}
        </>
      )}
      {data !== undefined && data.count === 0 && t.nothing}
      {data !== undefined && data.count > 0 && (
        <span>
          <strong className="font-semibold">
            {data.is_capped
              ? t.countCapped(format.number(data.count))
              : t.count(format.number(data.count), data.count)}
          </strong>{" "}
          {data.oldest !== null && (
            <span className="text-muted">{t.oldest(format.dateTime(new Date(data.oldest)))}</span>
          )}
        </span>
      )}
    </p>
  );
}
