import { useState, type FormEvent } from "react";
import { useDisplay } from "../../display/display.ts";
import { useNow } from "../../display/format.ts";
import { useTexts } from "../../texts/texts.ts";
import { Segments } from "../../ui/field.tsx";
import { faultOf, fieldsOf, timesOf, type FieldTimes } from "../../ui/own-times.ts";
import { TimeFields } from "../../ui/time-fields.tsx";
import { RANGE_NAMES, type Change, type LogSearch, type Span } from "./log-search.ts";
import { texts } from "./texts.ts";

type TimeProps = { search: LogSearch; span: Span; onChange: Change };

/** The last hours or days, or a time of one's own. */
export function TimeChoice({ search, span, onChange }: TimeProps) {
  const t = useTexts(texts);
  const isOwn = search.from !== undefined;
  const options = RANGE_NAMES.map((value) => ({ value, label: t.ranges[value] }));
  return (
    <div className="col-span-2 max-w-full overflow-x-auto max-sm:-order-2">
      <Segments
        label={t.range}
        value={isOwn ? "own" : (search.range ?? "24h")}
        options={[...options, { value: "own" as const, label: t.otherTime }]}
        onChoose={(value) =>
          onChange(
            value === "own"
              ? { from: span.from.toISOString(), to: new Date().toISOString(), range: undefined }
              : { range: value === "24h" ? undefined : value, from: undefined, to: undefined },
          )
        }
      />
    </div>
  );
}

/** Looked at once a person leaves a field or presses Enter: a year is typed digit by digit. */
export function OwnTime({ span, onChange }: Omit<TimeProps, "search">) {
  const { zone } = useDisplay();
  const shown = fieldsOf(span, zone);
  const [times, setTimes] = useState(shown);
  const [asked, setAsked] = useState(shown);
  const [known, setKnown] = useState(shown);
  if (!isSame(known, shown)) {
    setKnown(shown);
    // From elsewhere, as by the chart. What was typed here stays, and so does what is typed since.
    if (!isSame(asked, shown)) setTimes(shown);
  }
  const { from, to } = timesOf(times, span, zone);
  const fault = faultOf({ from, to }, useNow());
  const look = (event?: FormEvent): void => {
    event?.preventDefault();
    if (from === null || fault !== undefined || isSame(times, shown)) return;
    setAsked(times);
    onChange({ from: from.toISOString(), to: to?.toISOString() });
  };
  return (
    <form
      noValidate
      onSubmit={look}
      onBlur={() => look()}
      className="col-span-2 max-sm:-order-1 sm:basis-full"
    >
      <div className="sm:max-w-lg">
        <TimeFields times={times} onChange={setTimes} fault={fault} />
      </div>
      <input type="submit" hidden />
    </form>
  );
}

function isSame(one: FieldTimes, other: FieldTimes): boolean {
  return one.from === other.from && one.to === other.to;
}
