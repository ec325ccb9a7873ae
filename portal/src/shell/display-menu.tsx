import { Menu } from "@base-ui/react/menu";
import { LOCALES, setDisplay, THEMES, useDisplay, ZONES } from "../display/display.ts";
import { signOut } from "../session/session.ts";
import { useTexts } from "../texts/texts.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { MenuItem, MenuPopup } from "../ui/menu.tsx";
import { texts } from "./texts.ts";

const LANGUAGES = { en: "English", de: "Deutsch" } as const;

/** Theme, language and time zone, the keyboard's help, and the way out. */
export function DisplayMenu({ onShowShortcuts, isCompact }: { onShowShortcuts: () => void; isCompact: boolean }) {
  const t = useTexts(texts);
  const { theme, locale, zone } = useDisplay();
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        aria-label={isCompact ? t.display : undefined}
        className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-muted hover:bg-hover hover:text-ink data-popup-open:bg-hover data-popup-open:text-ink"
      >
        <Icon name="display" />
        {!isCompact && t.display}
      </Menu.Trigger>
      <MenuPopup side={isCompact ? "bottom" : "top"}>
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
        <MenuItem icon="keyboard" onClick={onShowShortcuts}>
          {t.shortcuts}
        </MenuItem>
        <MenuItem icon="leave" onClick={() => void signOut()}>
          {t.signOut}
        </MenuItem>
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
  const icon: IconName = "check";
  return (
    <Menu.Group className="pb-1">
      <Menu.GroupLabel className="px-2.5 pt-1.5 pb-0.5 text-xs font-medium text-muted">{label}</Menu.GroupLabel>
      <Menu.RadioGroup value={value} onValueChange={onChoose}>
        {options.map((option) => (
          <Menu.RadioItem
            key={option.value}
            value={option.value}
            className="flex items-center gap-2 rounded px-2.5 py-1 outline-none select-none data-highlighted:bg-hover"
          >
            <span className="size-4">
              <Menu.RadioItemIndicator>
                <Icon name={icon} className="text-accent" />
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
