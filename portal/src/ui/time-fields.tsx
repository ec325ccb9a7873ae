import { useDisplay } from "../display/display.ts";
import { useTexts } from "../texts/texts.ts";
import { Field, INPUT } from "./field.tsx";
import type { FieldTimes, TimesFault } from "./own-times.ts";
import { texts } from "./texts.ts";

type TimeFieldsProps = {
  times: FieldTimes;
  onChange: (times: FieldTimes) => void;
  fault?: TimesFault | undefined;
};

/** Four digits of a year, so that typing goes on with the time. */
const LAST = "9999-12-31T23:59";

/** Both ends of a time of one's own, in the zone in which times are shown. */
export function TimeFields({ times, onChange, fault }: TimeFieldsProps) {
  const t = useTexts(texts);
  const { zone } = useDisplay();
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {(["from", "to"] as const).map((end) => (
        <Field
          key={end}
          label={t[end]}
          about={zone === "utc" ? "UTC" : undefined}
          error={end === fault?.end ? t[fault.kind] : undefined}
        >
          {(wiring) => (
            <input
              {...wiring}
              type="datetime-local"
              max={LAST}
              value={times[end]}
              onChange={({ target }) => onChange({ ...times, [end]: target.value })}
              className={INPUT}
            />
          )}
        </Field>
      ))}
    </div>
  );
}
