import { Suspense, useState, type ReactElement, type ReactNode } from "react";

type LazyMenuProps = {
  /** Where the button's content does not say it. */
  label?: string;
  className: string;
  /** Of the button. */
  children: ReactNode;
  /** Makes the open menu around the button; a component that is loaded for it. */
  render: (trigger: ReactElement) => ReactNode;
};

/** The button of a menu. What a menu needs is loaded when somebody first opens one. */
export function LazyMenu({ label, className, children, render }: LazyMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = (
    <button
      type="button"
      aria-label={label}
      aria-haspopup="menu"
      className={className}
      {...(!isWanted && { "aria-expanded": false, onClick: () => setIsWanted(true) })}
    >
      {children}
    </button>
  );
  return isWanted ? <Suspense fallback={button}>{render(button)}</Suspense> : button;
}
