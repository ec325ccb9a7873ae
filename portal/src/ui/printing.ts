import { useEffect, useState } from "react";
import { flushSync } from "react-dom";

/** For a row that lies where its list puts it: on paper one follows the other, and none is cut by a page's end. */
export const ROW_ON_PAPER = "break-inside-avoid print:static print:transform-none!";

/** While the page is printed, which shows rows that are out of sight too. */
export function useIsPrinting(): boolean {
  const [isPrinting, setIsPrinting] = useState(false);
  useEffect(() => {
    // The browser goes on to print as soon as its listeners are done.
    const begin = (): void => flushSync(() => setIsPrinting(true));
    const end = (): void => setIsPrinting(false);
    window.addEventListener("beforeprint", begin);
    window.addEventListener("afterprint", end);
    return () => {
      window.removeEventListener("beforeprint", begin);
      window.removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting;
}
