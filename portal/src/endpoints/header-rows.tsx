import { useTexts } from "../texts/texts.ts";
import { Button } from "../ui/button.tsx";
import { INPUT } from "../ui/field.tsx";
import { texts } from "./endpoint-form-texts.ts";
import { isAlwaysSecret, type HeaderInput } from "./endpoint-input.ts";

const MAX_HEADERS = 20;

export function HeaderRows({
  headers,
  onChange,
}: {
  headers: readonly HeaderInput[];
  onChange: (headers: HeaderInput[]) => void;
}) {
  const t = useTexts(texts);
  const set = (key: number, change: Partial<HeaderInput>): void =>
    onChange(headers.map((one) => (one.key === key ? { ...one, ...change } : one)));
  const add = (): void => {
    const key = Math.max(-1, ...headers.map((one) => one.key)) + 1;
    onChange([...headers, { key, name: "", value: "", isSecret: false }]);
  };
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{t.headers}</legend>
      <p className="mb-2 text-sm text-muted">{t.headersAbout}</p>
      <ul className="space-y-2">
        {headers.map((header) => (
          <li key={header.key} className="flex flex-wrap items-center gap-2 sm:flex-nowrap">
            <input
              aria-label={t.headerName}
              placeholder={t.headerName}
              value={header.name}
              onChange={({ target }) => set(header.key, { name: target.value })}
              className={`${INPUT} font-mono text-sm`}
            />
            <input
              aria-label={t.headerValue}
              placeholder={t.headerValue}
              autoComplete="off"
              value={header.value}
              onChange={({ target }) => set(header.key, { value: target.value })}
              className={`${INPUT} font-mono text-sm`}
            />
            <label className="flex items-center gap-1.5 text-sm">
              <input
                type="checkbox"
                checked={header.isSecret || isAlwaysSecret(header)}
                disabled={isAlwaysSecret(header)}
                onChange={({ target }) => set(header.key, { isSecret: target.checked })}
              />
              {t.headerSecret}
            </label>
            <Button
              kind="quiet"
              icon="trash"
              aria-label={t.removeHeader(header.name)}
              onClick={() => onChange(headers.filter((one) => one !== header))}
            />
          </li>
        ))}
      </ul>
      {headers.length < MAX_HEADERS && (
        <Button small icon="plus" className="mt-2" onClick={add}>
          {t.addHeader}
        </Button>
      )}
    </fieldset>
  );
}
