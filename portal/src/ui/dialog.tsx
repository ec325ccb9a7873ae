/** A dialog over the page; `AskDialog` for what needs a second thought. */
import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { DialogDepth, useDialogDepth } from "./dialog-depth.ts";
import { Icon } from "./icon.tsx";
import { texts } from "./texts.ts";

type DialogProps = {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  about?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  /** Neither Escape nor a click beside it closes the dialog: what it shows is not shown again. */
  isFirm?: boolean;
  /** What gets the focus once it is closed; true for what had it before, false for nothing. */
  finalFocus?: () => HTMLElement | boolean;
};

export function Dialog({
  isOpen,
  onClose,
  title,
  about,
  children,
  footer,
  isFirm = false,
  finalFocus,
}: DialogProps) {
  const t = useTexts(texts);
  const depth = useDialogDepth() + 1;
  return (
    <Base.Root
      open={isOpen}
      disablePointerDismissal={isFirm}
      onOpenChange={(open, details) => {
        if (isFirm && details.reason === "escape-key") return details.cancel();
        if (!open) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop
          forceRender
          className="fixed inset-0 z-40 bg-dim transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
        />
        <Base.Popup
          {...(finalFocus && { finalFocus })}
          className="fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 -translate-y-1/2 flex-col overflow-hidden rounded-xl border border-line bg-raised shadow-raised transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
        >
          <div className="pt-4.5 pr-12 pb-3 pl-5">
            <Base.Title className="text-lg font-semibold text-balance wrap-anywhere">{title}</Base.Title>
          </div>
          <div className="overflow-y-auto px-5 pb-5">
            {about !== undefined && (
              <Base.Description render={<div />} className="text-muted">
                {about}
              </Base.Description>
            )}
            <DialogDepth value={depth}>{children}</DialogDepth>
          </div>
          {footer !== undefined && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line bg-sunken px-5 py-3">
              {footer}
            </div>
          )}
          {/* Last, so that the focus begins with what the dialog is about. */}
          {!isFirm && (
            <Base.Close
              aria-label={t.close}
              className="absolute top-4 right-3.5 rounded p-1 text-muted hover:bg-hover hover:text-ink"
            >
              <Icon name="close" />
            </Base.Close>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

type AskProps = {
  isOpen: boolean;
  onClose: () => void;
  onYes: () => void;
  title: string;
  about: ReactNode;
  yes: string;
  /** Instead of "Cancel", which is ambiguous where something is to be canceled. */
  no?: string;
  isDanger?: boolean;
  isBusy?: boolean;
} & Pick<DialogProps, "finalFocus">;

export function AskDialog({
  isOpen,
  onClose,
  onYes,
  title,
  about,
  yes,
  no,
  isDanger = false,
  isBusy = false,
  ...rest
}: AskProps) {
  const t = useTexts(texts);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      about={about}
      {...rest}
      footer={
        <>
          <Button onClick={onClose}>{no ?? t.cancel}</Button>
          <Button kind={isDanger ? "danger" : "primary"} isBusy={isBusy} onClick={onYes}>
            {yes}
          </Button>
        </>
      }
    />
  );
}
