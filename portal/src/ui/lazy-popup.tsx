import { useState, type ReactElement, type ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import { Part } from "./part.tsx";
import { texts } from "./texts.ts";
import { toast } from "./toast.tsx";

type LazyPopupProps = {
  kind: "menu" | "dialog";
  /** Where the button's content does not say it. */
  label?: string;
  className: string;
  /** Of the button. */
  children: ReactNode;
  /** Makes the open popup around the button; a component that is loaded for it. */
  render: (trigger: ReactElement) => ReactNode;
};

/** The button of a menu or a dialog. What that needs is loaded when somebody first opens it. */
export function LazyPopup({ kind, label, className, children, render }: LazyPopupProps) {
  const t = useTexts(texts);
  const [isWanted, setIsWanted] = useState(false);
  const makeButton = (onClick?: () => void) => (
    <button
      type="button"
      aria-label={label}
      aria-haspopup={kind}
      className={className}
      // Another element takes the button's place, and has the focus as that had: a popup gives it back there.
      autoFocus={isWanted}
      {...(onClick && { "aria-expanded": false, onClick })}
    >
      {children}
    </button>
  );
  return isWanted ? (
    <Part
      fallback={makeButton()}
      lost={makeButton}
      onLost={() => toast({ title: t.lostTitle, about: t.lost, isBad: true })}
    >
      {render(makeButton())}
    </Part>
  ) : (
    makeButton(() => setIsWanted(true))
  );
}
