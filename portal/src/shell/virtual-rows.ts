/** Lists of any length on a page that scrolls: only the rows in sight are made. */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { useIsPrinting } from "../ui/printing.ts";
import { useShortcuts } from "./shortcuts.ts";

/** A row that was scrolled to is drawn within so many frames. */
const FRAMES = 30;

type VirtualRows = {
  /** Of the rows, in their order. Another function only when the rows are others: each is measured again then. */
  keyOf: (index: number) => string | number;
  count: number;
  /** In pixels, until the row is measured. */
  height: number;
  /** So many are made on either side of those in sight. */
  overscan: number;
};

/** `place` belongs on the list, `list.measureElement` and `data-index` on its items, which begin at `start - offset`. */
export function useVirtualRows({ keyOf, count, height, overscan }: VirtualRows) {
  const place = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(place.current?.offsetTop ?? 0), []);
  const isPrinting = useIsPrinting();
  const list = useWindowVirtualizer({
    count,
    estimateSize: useCallback(() => height, [height]),
    overscan: isPrinting ? count : overscan,
    scrollMargin: offset,
    getItemKey: keyOf,
  });
  return { place, offset, list };
}

type RowKeys = {
  count: number;
  /** The row from which the keys go on as long as none has the focus; -1 for none. Asked when a key is pressed. */
  openedRow?: () => number;
  /** What the keys do, for the help that lists them. */
  about: { next: string; previous: string; open: string };
  scrollTo: (index: number) => void;
  onOpen: (index: number) => void;
};

/** `j` and `k` move the focus through the elements that have `data-row`, also to those that are not made yet; `o` opens one. */
export function useVirtualRowKeys({ count, openedRow, about, scrollTo, onOpen }: RowKeys): void {
  const current = useRef(-1);
  /** The row that is to get the focus once it is drawn: who presses keys faster than that goes on from there. */
  const awaited = useRef<number | null>(null);
  const focusSoon = (index: number, frames: number): void => {
    if (awaited.current !== index) return;
    const hasFocus = focusRow(index);
    if (hasFocus || frames === 0) awaited.current = null;
    else requestAnimationFrame(() => focusSoon(index, frames - 1));
  };
  const go = (step: number): void => {
    const opened = openedRow?.() ?? -1;
    const from = awaited.current ?? focusedRow() ?? (opened === -1 ? current.current : opened);
    const index = Math.min(count - 1, Math.max(0, from + step));
    current.current = index;
    awaited.current = index;
    // A scroll of the list's own goes on for some frames, and would take back what the person scrolls meanwhile.
    if (rowAt(index) === null) scrollTo(index);
    focusSoon(index, FRAMES);
  };
  const open = (): void => {
    const index = focusedRow() ?? current.current;
    if (index !== -1) onOpen(index);
  };
  useShortcuts([
    { key: "j", about: about.next, run: () => go(1) },
    { key: "k", about: about.previous, run: () => go(-1) },
    { key: "o", about: about.open, run: open },
  ]);
}

function focusedRow(): number | null {
  const index = document.activeElement?.closest("[data-index]")?.getAttribute("data-index");
  return index === null || index === undefined ? null : Number(index);
}

function rowAt(index: number): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-index="${index}"]`);
}

function focusRow(index: number): boolean {
  const row = rowAt(index);
  // The browser's own way to scroll to what has the focus puts it in the middle.
  row?.querySelector<HTMLElement>("[data-row]")?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
  return row !== null;
}
