import { useRef, type RefObject } from "react";
import { useTexts } from "../texts/texts.ts";
import { useShortcuts } from "./shortcuts.ts";
import { texts } from "./texts.ts";

/** `j` and `k` move the focus through the list's elements that have `data-row`. For lists that are whole on the page. */
export function useListKeys(): RefObject<HTMLDivElement | null> {
  const t = useTexts(texts);
  const list = useRef<HTMLDivElement>(null);
  const go = (step: number): void => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const place = rows.findIndex((row) => row.contains(document.activeElement));
    rows[Math.min(rows.length - 1, Math.max(0, place + step))]?.focus();
  };
  useShortcuts([
    { key: "j", about: t.nextRow, run: () => go(1) },
    { key: "k", about: t.previousRow, run: () => go(-1) },
  ]);
  return list;
}
