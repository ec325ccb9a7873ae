import { useId } from "react";
import { useTexts } from "../texts/texts.ts";
import { Button } from "../ui/button.tsx";
import { INPUT } from "../ui/field.tsx";
import { texts } from "./endpoint-form-texts.ts";
import { isAlwaysSecret, lostPair, type PairInput } from "./endpoint-input.ts";

type PairRowsProps = {
  kind: "headers" | "metadata";
  pairs: readonly PairInput[];
  isTried: boolean;
  onChange: (pairs: PairInput[]) => void;
};

const MOST = { headers: 20, metadata: 100 };

/** Names with their values, a row each: extra headers, of which some are secret, or metadata. */
export function PairRows({ kind, pairs, isTried, onChange }: PairRowsProps) {
  const t = useTexts(texts);
  const errorId = useId();
  const lost = isTried ? lostPair(pairs) : undefined;
  const { label, about, add, remove } = t[kind];
  const set = (key: number, change: Partial<PairInput>): void =>
    onChange(pairs.map((one) => (one.key === key ? { ...one, ...change } : one)));
  const append = (): void => {
    const key = Math.max(-1, ...pairs.map((one) => one.key)) + 1;
    onChange([...pairs, { key, name: "", value: "", isSecret: false }]);
  };
  return (
    <fieldset tabIndex={-1} className="outline-none">
      <legend className="mb-1 font-medium">{label}</legend>
      <p className="mb-2 text-sm text-muted">{about}</p>
      <ul className="space-y-2">
        {pairs.map((pair) => (
          <li key={pair.key} className="flex flex-wrap items-center gap-2 sm:flex-nowrap">
            <input
              aria-label={t.name}
              aria-invalid={pair === lost}
              aria-describedby={pair === lost ? errorId : undefined}
              placeholder={t.name}
              autoComplete="off"
              value={pair.name}
              onChange={({ target }) => set(pair.key, { name: target.value })}
              className={`${INPUT} font-mono text-sm`}
            />
            <input
              aria-label={t.value}
              placeholder={t.value}
              autoComplete="off"
              value={pair.value}
              onChange={({ target }) => set(pair.key, { value: target.value })}
              className={`${INPUT} font-mono text-sm`}
            />
            {kind === "headers" && (
              <label className="flex items-center gap-1.5 text-sm">
                <input
                  type="checkbox"
                  checked={pair.isSecret || isAlwaysSecret(pair)}
                  disabled={isAlwaysSecret(pair)}
                  onChange={({ target }) => set(pair.key, { isSecret: target.checked })}
                />
                {t.secret}
              </label>
            )}
            <Button
              kind="quiet"
              icon="trash"
              aria-label={remove(pair.name)}
              onClick={({ currentTarget }) => {
                currentTarget.closest("fieldset")?.focus();
                onChange(pairs.filter((one) => one !== pair));
              }}
            />
          </li>
        ))}
      </ul>
      <p id={errorId} role="alert" className="mt-1 text-sm text-bad empty:hidden">
        {lost !== undefined && t.pairLost}
      </p>
      {pairs.length < MOST[kind] && (
        <Button small icon="plus" className="mt-2" onClick={append}>
          {add}
        </Button>
      )}
    </fieldset>
  );
}
