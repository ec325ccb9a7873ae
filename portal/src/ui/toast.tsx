/** Short news of what a person did, told to screen readers too. */
import { Toast } from "@base-ui/react/toast";
import type { ReactNode } from "react";
import { texts } from "./texts.ts";
import { useTexts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";

const manager = Toast.createToastManager();

export type News = { title: string; about?: string; isBad?: boolean; action?: { label: string; run: () => void } };

export function toast({ title, about, isBad = false, action }: News): void {
  const id = manager.add({
    title,
    ...(about !== undefined && { description: about }),
    type: isBad ? "bad" : "good",
    priority: isBad ? "high" : "low",
    timeout: action === undefined && !isBad ? 5000 : 12_000,
    ...(action !== undefined && {
      actionProps: {
        children: action.label,
        onClick: () => {
          manager.close(id);
          action.run();
        },
      },
    }),
  });
}

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed inset-x-4 bottom-4 z-50 flex flex-col gap-2 sm:left-auto sm:w-96">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  const t = useTexts(texts);
  return toasts.map((one) => (
    <Toast.Root
      key={one.id}
      toast={one}
      className="rounded-lg border border-line bg-raised p-3 shadow-raised transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
    >
      <Toast.Content className="flex items-start gap-2.5">
        <Icon
          name={one.type === "bad" ? "alert" : "check"}
          className={`mt-0.5 ${one.type === "bad" ? "text-bad" : "text-good"}`}
        />
        <div className="min-w-0 flex-1">
          <Toast.Title className="font-medium wrap-anywhere" />
          <Toast.Description className="text-sm text-muted wrap-anywhere" />
        </div>
        <Toast.Action className="rounded px-1.5 py-0.5 text-sm font-medium text-accent hover:bg-hover" />
        <Toast.Close aria-label={t.close} className="rounded p-0.5 text-muted hover:bg-hover hover:text-ink">
          <Icon name="close" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
