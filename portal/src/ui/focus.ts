/** Gives the focus to the page's title, or to the dialog that has it, before the control that has it goes. */
export function focusTitle(): void {
  const dialog = document.activeElement?.closest<HTMLElement>('[role="dialog"]');
  (dialog ?? document.querySelector<HTMLElement>("h1"))?.focus({ preventScroll: true });
}
