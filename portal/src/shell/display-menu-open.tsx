import { Menu } from "@base-ui/react/menu";
import type { ReactElement } from "react";
import { LOCALES, setDisplay, THEMES, useDisplay, ZONES } from "../display/display.ts";
import { signOut } from "../session/session.ts";
import { useTexts } from "../texts/texts.ts";
import { Icon } from "../ui/icon.tsx";
import { MenuItem, MenuPopup } from "../ui/menu.tsx";
import { texts } from "./texts.ts";

const LANGUAGES = { en: "English", de: "Deutsch" } as const;

type OpenProps = { trigger: ReactElement; side: "top" | "bottom"; onShowShortcuts: () => void };

/** Theme, language and time zone, the keyboard's help, and the way out. */
export function OpenDisplayMenu({ trigger, side, onShowShortcuts }: OpenProps) {
  const t = useTexts(texts);
  const { theme, locale, zone } = useDisplay();
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={trigger} />
      <MenuPopup side={side}>
        <Choice
          label={t.theme}
          value={theme}
          options={THEMES.map((value) => ({ value, label: t.themes[value] }))}
          onChoose={(value) => setDisplay({ theme: value })}
        />
        <Choice
          label={t.language}
          value={locale}
          options={LOCALES.map((value) => ({ value, label: LANGUAGES[value] }))}
          onChoose={(value) => setDisplay({ locale: value })}
        />
        <Choice
          label={t.zone}
          value={zone}
          options={ZONES.map((value) => ({ value, label: t.zones[value] }))}
          onChoose={(value) => setDisplay({ zone: value })}
        />
        <Separator />
        <MenuItem icon="keyboard" label={t.shortcuts} run={onShowShortcuts} />
        <MenuItem icon="leave" label={t.signOut} run={() => void signOut()} />
      </MenuPopup>
    </Menu.Root>
  );
}

type ChoiceProps<Value extends string> = {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChoose: (value: Value) => void;
};

function Choice<Value extends string>({ label, value, options, onChoose }: ChoiceProps<Value>) {
  return (
    <Menu.Group className="pb-1">
      <Menu.GroupLabel className="px-2.5 pt-1.5 pb-0.5 text-xs font-medium text-muted">
        {label}
      </Menu.GroupLabel>
      <Menu.RadioGroup value={value} onValueChange={onChoose}>
        {options.map((option) => (
          <Menu.RadioItem
            key={option.value}
            value={option.value}
            className="flex items-center gap-2 rounded px-2.5 py-1 outline-none select-none data-highlighted:bg-hover"
          >
            <span className="size-4">
              <Menu.RadioItemIndicator>
                <Icon name="check" className="text-accent" />
              </Menu.RadioItemIndicator>
            </span>
            {option.label}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </Menu.Group>
  );
}

function Separator() {
  return <div role="separator" className="my-1 border-t border-line" />;
}
