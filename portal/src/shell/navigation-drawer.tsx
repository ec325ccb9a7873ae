import { Dialog } from "@base-ui/react/dialog";
import { useState, type ReactElement } from "react";
import { useTexts } from "../texts/texts.ts";
import { Navigation } from "./navigation.tsx";
import { texts } from "./texts.ts";
import { Who } from "./who.tsx";

/** The navigation of a narrow window, open. */
export function NavigationDrawer({ trigger }: { trigger: ReactElement }) {
  const t = useTexts(texts);
  const [isOpen, setIsOpen] = useState(true);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setIsOpen}>
      <Dialog.Trigger render={trigger} />
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-dim" />
        <Dialog.Popup
          aria-label={t.navigation}
          className="fixed inset-y-0 left-0 z-40 w-72 max-w-[85vw] overflow-y-auto border-r border-line bg-surface px-3 py-4 outline-none"
        >
          <div className="mb-4">
            <Who />
          </div>
          <Navigation onChoose={() => setIsOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
