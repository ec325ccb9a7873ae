/** The page's title: what gets the focus when nothing better is left. */
export function pageTitle(): HTMLElement | null {
  return document.querySelector("h1");
}

/** Gives the focus to the page's title, before the control that has it goes. */
export function focusTitle(): void {
  pageTitle()?.focus({ preventScroll: true });
}

/** The same of a control that may be in a dialog, which keeps the focus then. */
export function focusAround(): void {
  const dialog = document.activeElement?.closest<HTMLElement>('[role="dialog"]') ?? null;
  if (dialog === null) focusTitle();
  else dialog.focus({ preventScroll: true });
}
