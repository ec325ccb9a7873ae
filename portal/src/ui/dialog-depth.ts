/** How many dialogs a part of the page is in, and how many are open: keys belong to the innermost. */
import { createContext, useContext } from "react";

export const DialogDepth = createContext(0);

export function useDialogDepth(): number {
  return useContext(DialogDepth);
}

export function countOpenDialogs(): number {
  return document.querySelectorAll(':is([role="dialog"],[role="alertdialog"]):not([data-closed])').length;
}
