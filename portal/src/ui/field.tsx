import { useId, useLayoutEffect, useRef, type InputHTMLAttributes, type ReactNode, type Ref } from "react";
import { Icon } from "./icon.tsx";

export const INPUT =
  "h-8.5 w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-ink aria-invalid:border-bad";

type FieldProps = {
  label: string;
  about?: ReactNode;
  error?: string | undefined;
  children: (wiring: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ReactNode;
};

/** A labelled control with its explanation and what is wrong with it. */
export function Field({ label, about, error, children }: FieldProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({ id, "aria-describedby": `${id}-about ${id}-error`, "aria-invalid": error !== undefined })}
      <div id={`${id}-about`} className="mt-1 text-sm text-muted empty:hidden">
        {about}
      </div>
      <div id={`${id}-error`} role="alert" className="mt-1 text-sm text-bad empty:hidden">
        {error}
      </div>
    </div>
  );
}

/** The first control that is marked as wrong. */
export function faultIn(form: HTMLElement | null): HTMLElement | null {
  return form?.querySelector<HTMLElement>("[aria-invalid=true]") ?? null;
}

/** Gives it the focus, as soon as the faults that were just found are marked. */
export function leadToFault(form: HTMLElement): void {
  requestAnimationFrame(() => {
    const fault = faultIn(form);
    fault?.closest("details")?.setAttribute("open", "");
    fault?.focus({ preventScroll: true });
    // With its label, and not below the bar of a phone.
    fault?.scrollIntoView({ block: "center" });
  });
}

type SearchProps = InputHTMLAttributes<HTMLInputElement> & { label: string; ref?: Ref<HTMLInputElement> };

export function SearchInput({ label, className = "", ...rest }: SearchProps) {
  return (
    <div className={`relative ${className}`}>
      <Icon
        name="search"
        className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-faint"
      />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        // The browser's own Escape empties the field.
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape" && currentTarget.value === "") currentTarget.blur();
        }}
        {...rest}
        className={`${INPUT} pl-8`}
      />
    </div>
  );
}

type SegmentsProps<Value extends string> = {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string; count?: string | undefined }[];
  onChoose: (value: Value) => void;
};

/** A choice of few, all in sight. */
export function Segments<Value extends string>({ label, value, options, onChoose }: SegmentsProps<Value>) {
  const name = useId();
  const place = useRef<HTMLFieldSetElement>(null);
  useLayoutEffect(() => showChosen(place.current), [value]);
  return (
    <fieldset
      ref={place}
      className="relative inline-flex max-w-full min-w-0 overflow-x-auto rounded-md border border-line bg-sunken p-0.5"
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className="rounded px-2.5 py-1 text-sm whitespace-nowrap text-muted select-none hover:text-ink forced-colors:has-checked:forced-color-adjust-none forced-colors:has-checked:bg-[SelectedItem] forced-colors:has-checked:text-[SelectedItemText] has-checked:bg-surface has-checked:text-ink has-checked:shadow-[0_1px_2px_var(--shadow)] has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChoose(option.value)}
            className="sr-only"
          />
          {option.label}
          {/* The space is heard, or "All 5" would be "All5". */}
          {option.count !== undefined && (
            <span className="tabular ml-0.5 text-faint forced-colors:text-inherit"> {option.count}</span>
          )}
        </label>
      ))}
    </fieldset>
  );
}

/** Of more choices than have room; without a scroll of the page. */
function showChosen(place: HTMLFieldSetElement | null): void {
  const chosen = place?.querySelector("input:checked")?.closest("label");
  if (place === null || chosen === null || chosen === undefined) return;
  const { offsetLeft: start, offsetWidth: width } = chosen;
  const isInSight = start >= place.scrollLeft && start + width <= place.scrollLeft + place.clientWidth;
  if (!isInSight) place.scrollLeft = start - (place.clientWidth - width) / 2;
}
