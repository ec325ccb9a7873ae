import { useId, type ReactNode } from "react";

type SelectProps = { label: string; value: string; onChange: (value: string) => void; children: ReactNode };

/** The system's own select: every keyboard, phone and screen reader knows it. */
export function Select({ label, value, onChange, children }: SelectProps) {
  const id = useId();
  const isSet = value !== "";
  return (
    <div className="relative min-w-0">
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <select
        id={id}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className={`h-8.5 w-full sm:max-w-56 rounded-md border px-2 text-ellipsis ${isSet ? "border-accent bg-accent-soft text-ink" : "border-line bg-surface text-muted"}`}
      >
        {children}
      </select>
    </div>
  );
}
