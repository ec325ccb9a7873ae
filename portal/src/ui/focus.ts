/** Gives the focus to the page's title, before the control that has it goes. */
export function focusTitle(): void {
  document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}
