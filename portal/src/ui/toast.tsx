/**
 * Short news of what a person did. Screen readers hear them: what went wrong at
 * once, the rest when they are done speaking. They stay while one points at them
 * or has the focus in them.
 */
import { useEffect, useRef, useState, useSyncExternalStore, type FocusEvent } from "react";
import { createPortal } from "react-dom";
import { useTexts } from "../texts/texts.ts";
import { focusTitle } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { texts } from "./texts.ts";

export type News = {
  title: string;
  about?: string;
  isBad?: boolean;
  action?: { label: string; run: () => void };
};

type Shown = News & { id: number };

const SHORT_MS = 6000;
/** For what asks for more: an error to read, a change to undo. */
const LONG_MS = 12_000;
const MAX_SHOWN = 3;

let shown: readonly Shown[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function toast(news: News): void {
  lastId += 1;
  change([...shown, { ...news, id: lastId }].slice(-MAX_SHOWN));
}

export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  const [isHeld, setIsHeld] = useState(false);
  /** What had the focus before it came here. */
  const former = useRef<Element | null>(null);
  const enter = ({ currentTarget, relatedTarget }: FocusEvent): void => {
    setIsHeld(true);
    if (!currentTarget.contains(relatedTarget)) former.current = relatedTarget;
  };
  const giveBack = (): void => {
    if (former.current instanceof HTMLElement && former.current.isConnected) former.current.focus();
    else focusTitle();
  };
  const leave = ({ currentTarget, relatedTarget }: FocusEvent): void => {
    if (!currentTarget.contains(relatedTarget)) setIsHeld(false);
  };
  // Dialogs lie in the body, above the root: there news would lie below their backdrop.
  return createPortal(
    <div
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col gap-2 sm:left-auto sm:w-96 print:hidden"
      onMouseEnter={() => setIsHeld(true)}
      onMouseLeave={() => setIsHeld(false)}
      onFocus={enter}
      onBlur={leave}
    >
      {[true, false].map((isBad) => (
        <div key={String(isBad)} aria-live={isBad ? "assertive" : "polite"} className="contents">
          {toasts
            .filter((one) => (one.isBad === true) === isBad)
            .map((one) => (
              <OneToast key={one.id} news={one} isHeld={isHeld} onGone={giveBack} />
            ))}
        </div>
      ))}
    </div>,
    document.body,
  );
}

type OneProps = { news: Shown; isHeld: boolean; onGone: () => void };

function OneToast({ news, isHeld, onGone }: OneProps) {
  const t = useTexts(texts);
  const { id, title, about, isBad = false, action } = news;
  const lifeMs = isBad || action !== undefined ? LONG_MS : SHORT_MS;
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => close(id), lifeMs);
    return () => clearTimeout(timer);
  }, [id, isHeld, lifeMs]);
  const end = (): void => {
    onGone();
    close(id);
  };
  const run = (): void => {
    end();
    action?.run();
  };
  return (
    <div className="pointer-events-auto flex items-start gap-2.5 rounded-lg border border-line bg-raised p-3 shadow-raised transition-opacity starting:opacity-0">
      <Icon name={isBad ? "alert" : "check"} className={`mt-0.5 ${isBad ? "text-bad" : "text-good"}`} />
      <div className="min-w-0 flex-1">
        <p className="font-medium wrap-anywhere">{title}</p>
        {about !== undefined && <p className="text-sm wrap-anywhere text-muted">{about}</p>}
      </div>
      {action !== undefined && (
        <button
          type="button"
          onClick={run}
          className="rounded px-1.5 py-0.5 text-sm font-medium text-accent hover:bg-hover"
        >
          {action.label}
        </button>
      )}
      <button
        type="button"
        aria-label={t.close}
        onClick={end}
        className="rounded p-0.5 text-muted hover:bg-hover hover:text-ink"
      >
        <Icon name="close" />
      </button>
    </div>
  );
}

function close(id: number): void {
  change(shown.filter((one) => one.id !== id));
}

function change(next: readonly Shown[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
