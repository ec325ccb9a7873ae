import { Menu } from "@base-ui/react/menu";
import type { ReactElement } from "react";
import { MenuItem, MenuPopup, type Action } from "./menu.tsx";

export function OpenMenu({ trigger, actions }: { trigger: ReactElement; actions: readonly Action[] }) {
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={trigger} />
      <MenuPopup>
        {actions.map((action) => (
          <MenuItem key={action.label} {...action} />
        ))}
      </MenuPopup>
    </Menu.Root>
  );
}
