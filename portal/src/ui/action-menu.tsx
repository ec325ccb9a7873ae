import { type ReactElement, type ReactNode } from "react";
import { Icon } from "./icon.tsx";
import { LazyPopup } from "./lazy-popup.tsx";
import type { Action } from "./menu.tsx";
import { lazyPart } from "./lazy-part.tsx";

const OpenMenu = lazyPart(() => import("./action-menu-open.tsx").then(({ OpenMenu }) => OpenMenu));

/** Three dots, and behind them what one can do with the thing beside. */
export function ActionMenu({ label, actions }: { label: string; actions: readonly Action[] }) {
  return <MoreMenu label={label} render={(trigger) => <OpenMenu trigger={trigger} actions={actions} />} />;
}

type MoreProps = { label: string; render: (trigger: ReactElement) => ReactNode };

/** The three dots alone, for actions that need more than a list when they are opened. */
export function MoreMenu({ label, render }: MoreProps) {
  return (
    <LazyPopup
      kind="menu"
      label={label}
      className="flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink data-popup-open:bg-hover print:hidden"
      render={render}
    >
      <Icon name="more" />
    </LazyPopup>
  );
}
