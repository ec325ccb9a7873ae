import { Menu } from "@base-ui/react/menu";
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

export type Action = { icon: IconName; label: string; run: () => void; isDanger?: boolean };

export function MenuPopup({ children, side = "bottom" }: { children: ReactNode; side?: "top" | "bottom" }) {
  return (
    <Menu.Portal>
      <Menu.Positioner side={side} align="end" sideOffset={4} className="z-50 outline-none">
        <Menu.Popup className="max-h-(--available-height) min-w-48 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-raised outline-none">
          {children}
        </Menu.Popup>
      </Menu.Positioner>
    </Menu.Portal>
  );
}

export function MenuItem({ icon, label, run, isDanger = false }: Action) {
  return (
    <Menu.Item
      onClick={run}
      className={`flex items-center gap-2 rounded px-2.5 py-1.5 outline-none select-none data-highlighted:bg-hover ${isDanger ? "text-bad" : ""}`}
    >
      <Icon name={icon} className={isDanger ? "" : "text-muted"} />
      {label}
    </Menu.Item>
  );
}
