import { useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { texts } from "./texts.ts";
import { toast } from "./toast.tsx";

const SHOWN_MS = 2000;

export function CopyButton({ text, label, small = true }: { text: string; label?: string; small?: boolean }) {
  const t = useTexts(texts);
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await copyText(text);
      setIsCopied(true);
      setTimeout(() => setIsCopied(false), SHOWN_MS);
    } catch {
      toast({ title: t.notCopied, isBad: true });
    }
  };
  const [shown, other] = isCopied ? [t.copied, label ?? t.copy] : [label ?? t.copy, t.copied];
  return (
    <Button small={small} icon={isCopied ? "check" : "copy"} onClick={() => void copy()}>
      {/* Both texts have their place, so that nothing beside the button moves. */}
      <span
        aria-live="polite"
        data-other={other}
        className="text-start after:invisible after:block after:h-0 after:content-[attr(data-other)]"
      >
        {shown}
      </span>
    </Button>
  );
}

/** Throws where the browser refuses. */
async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    // Without TLS there is no such clipboard. The older way works there.
    if (!copyByEvent(text)) throw error;
  }
}

function copyByEvent(text: string): boolean {
  let isTaken = false;
  const take = (event: ClipboardEvent): void => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    isTaken = true;
  };
  document.addEventListener("copy", take, { once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", take);
  return isTaken;
}
