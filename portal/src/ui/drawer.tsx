import { Dialog } from "@base-ui/react/dialog";
import { useRef, useState, type ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import { DialogDepth, useDialogDepth } from "./dialog-depth.ts";
import { pageTitle } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { texts } from "./texts.ts";

type DrawerProps = { title: ReactNode; onClose: () => void; actions?: ReactNode; children: ReactNode };

/** Beside the list on a wide screen, over it on a phone. Whether it is open stands in the URL. */
export function Drawer({ title, onClose, actions, children }: DrawerProps) {
  const t = useTexts(texts);
  const depth = useDialogDepth() + 1;
  const popup = useRef<HTMLDivElement>(null);
  // Where a link opened it, nothing had the focus before.
  const [isFirst] = useState(() => document.activeElement === document.body);
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-dim print:hidden" />
        <Dialog.Popup
          ref={popup}
          initialFocus={popup}
          {...(isFirst && { finalFocus: pageTitle })}
          className="fixed inset-y-0 right-0 z-40 flex w-full max-w-2xl flex-col border-l border-line bg-surface shadow-raised outline-none print:static print:max-w-none print:border-0 print:shadow-none"
        >
          <div className="flex items-center gap-2 border-b border-line px-4 py-2.5 sm:px-5">
            <Dialog.Title className="flex min-w-0 flex-1 items-center gap-2 font-semibold">
              {title}
            </Dialog.Title>
            {actions}
            <Dialog.Close
              aria-label={t.close}
              className="rounded p-1.5 text-muted hover:bg-hover hover:text-ink print:hidden"
            >
              <Icon name="close" />
            </Dialog.Close>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 sm:px-5 print:overflow-visible">
            <DialogDepth value={depth}>{children}</DialogDepth>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
