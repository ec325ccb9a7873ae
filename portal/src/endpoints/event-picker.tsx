import { useQuery } from "@tanstack/react-query";
import { useId, useMemo, useState, type ReactNode } from "react";
import { eventTypesQuery } from "../api/queries.ts";
import { useFormat } from "../display/format.ts";
import { useTexts } from "../texts/texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { SearchInput } from "../ui/field.tsx";
import { Loading } from "../ui/states.tsx";
import { texts as uiTexts } from "../ui/texts.ts";
import { choicesOf, isMatch, prefixOf, type Choice } from "./event-choices.ts";
import { texts } from "./event-picker-texts.ts";

type PickerProps = {
  label: string;
  patterns: readonly string[];
  onChange: (patterns: string[]) => void;
  /** Whether the person tried to go on without a choice. */
  isMissing: boolean;
};

/** Chooses patterns: everything, all of a prefix, or types one by one. */
export function EventPicker({ label, patterns, onChange, isMissing }: PickerProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const ui = useTexts(uiTexts);
  const types = useQuery(eventTypesQuery);
  const [q, setQ] = useState("");
  const choices = useMemo(() => choicesOf(types.data ?? []), [types.data]);
  const groups = useMemo(() => groupsOf(choices, q), [choices, q]);
  const known = useMemo(
    () => new Set(choices.flatMap(({ pattern, entry }) => [pattern, prefixOf(entry.type)])),
    [choices],
  );
  const hasAll = patterns.includes("*");
  const others = types.data === undefined ? [] : patterns.filter((one) => one !== "*" && !known.has(one));
  const toggle = (pattern: string, isChosen: boolean): void =>
    onChange(isChosen ? [...patterns, pattern] : patterns.filter((one) => one !== pattern));
  return (
    <fieldset tabIndex={-1} className="outline-none">
      <legend className="mb-1 font-medium">{label}</legend>
      <div
        className={`overflow-hidden rounded-lg border bg-surface ${isMissing ? "border-bad" : "border-line"}`}
      >
        <div className="border-b border-line bg-surface px-3 py-2">
          <Check
            name="all-events"
            isChecked={hasAll}
            isWrong={isMissing}
            onChange={(isChosen) => onChange(isChosen ? ["*"] : [])}
          >
            <span className="font-medium">{t.all}</span> <span className="text-muted">{t.allAbout}</span>
          </Check>
        </div>
        {!hasAll && (
          <>
            <SearchInput
              label={t.search}
              value={q}
              onChange={({ target }) => setQ(target.value)}
              className="m-2"
            />
            <div className="relative max-h-80 overflow-y-auto border-t border-line" tabIndex={-1}>
              {types.isPending && <Loading />}
              {types.isError && (
                <p role="alert" className="flex flex-wrap items-center gap-2 p-4 text-bad">
                  {t.failed}
                  <Button
                    small
                    icon="retry"
                    onClick={({ currentTarget }) => {
                      currentTarget.closest("fieldset")?.focus();
                      void types.refetch();
                    }}
                  >
                    {ui.tryAgain}
                  </Button>
                </p>
              )}
              {types.data !== undefined && groups.length === 0 && <p className="p-4 text-muted">{t.none}</p>}
              {groups.map((group) => (
                <Group key={group.name} {...group} patterns={patterns} onToggle={toggle} />
              ))}
              {others.length > 0 && (
                <GroupFrame name={t.others}>
                  {others.map((pattern) => (
                    <Check key={pattern} isChecked onChange={() => toggle(pattern, false)}>
                      <code className="font-mono text-sm">{pattern}</code>
                    </Check>
                  ))}
                </GroupFrame>
              )}
            </div>
          </>
        )}
        <div className="flex min-h-9 items-center justify-between gap-2 border-t border-line bg-sunken px-3 py-1 text-sm text-muted">
          <span role={isMissing ? "alert" : "status"} className={isMissing ? "text-bad" : ""}>
            {patterns.length === 0 ? t.nothing : t.chosen(format.number(patterns.length), patterns.length)}
          </span>
          {patterns.length > 0 && (
            <Button
              small
              kind="quiet"
              onClick={({ currentTarget }) => {
                currentTarget.closest("fieldset")?.focus();
                onChange([]);
              }}
            >
              {t.clear}
            </Button>
          )}
        </div>
      </div>
    </fieldset>
  );
}

type GroupOf = { name: string; choices: readonly Choice[] };
type GroupProps = GroupOf & {
  patterns: readonly string[];
  onToggle: (pattern: string, isChosen: boolean) => void;
};

function Group({ name, choices, patterns, onToggle }: GroupProps) {
  const t = useTexts(texts);
  return (
    <GroupFrame name={name}>
      {[...Map.groupBy(choices, ({ entry }) => prefixOf(entry.type))].map(([prefix, members]) => (
        <div key={prefix}>
          {prefix.endsWith(".*") && (
            <Check isChecked={patterns.includes(prefix)} onChange={(isChosen) => onToggle(prefix, isChosen)}>
              {t.prefix(prefix.slice(0, -2))} <code className="font-mono text-sm text-muted">{prefix}</code>
            </Check>
          )}
          {members.map(({ pattern, entry, isVersion }) => (
            <div key={pattern} className={isVersion ? "pl-12" : "pl-6"}>
              <Check
                isChecked={patterns.includes(pattern) || (!isVersion && patterns.includes(prefix))}
                isDisabled={!isVersion && patterns.includes(prefix)}
                onChange={(isChosen) => onToggle(pattern, isChosen)}
              >
                <code className="font-mono text-sm">{pattern}</code>{" "}
                <span className="text-muted">{isVersion ? t.staysVersion : entry.title}</span>{" "}
                {entry.deprecated && <Badge tone="wait">{t.deprecated}</Badge>}{" "}
                {entry.preview && <Badge tone="accent">{t.preview}</Badge>}
              </Check>
            </div>
          ))}
        </div>
      ))}
    </GroupFrame>
  );
}

function GroupFrame({ name, children }: { name: string; children: ReactNode }) {
  const id = useId();
  return (
    <div role="group" aria-labelledby={id}>
      <p
        id={id}
        className="sticky top-0 z-10 border-b border-line bg-sunken px-3 py-1 text-xs font-medium text-muted"
      >
        {name}
      </p>
      <div className="px-3 py-1">{children}</div>
    </div>
  );
}

type CheckProps = {
  name?: string;
  isChecked: boolean;
  isDisabled?: boolean;
  isWrong?: boolean;
  onChange: (isChecked: boolean) => void;
  children: ReactNode;
};

function Check({ name, isChecked, isDisabled = false, isWrong, onChange, children }: CheckProps) {
  return (
    <label className={`flex items-baseline gap-2.5 py-1 ${isDisabled ? "text-muted" : ""}`}>
      <input
        type="checkbox"
        name={name}
        checked={isChecked}
        disabled={isDisabled}
        aria-invalid={isWrong}
        onChange={({ target }) => onChange(target.checked)}
        className="size-3.5 shrink-0 translate-y-0.5"
      />
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </label>
  );
}

function groupsOf(choices: readonly Choice[], q: string): GroupOf[] {
  const found = choices.filter((choice) => isMatch(choice, q));
  return [...Map.groupBy(found, ({ entry }) => entry.group)].map(([name, choices]) => ({ name, choices }));
}
