import { useTexts } from "../texts/texts.ts";
import { Icon } from "../ui/icon.tsx";
import { LazyPopup } from "../ui/lazy-popup.tsx";
import { texts } from "./texts.ts";
import { lazyPart } from "../ui/lazy-part.tsx";

const OpenDisplayMenu = lazyPart(() =>
  import("./display-menu-open.tsx").then(({ OpenDisplayMenu }) => OpenDisplayMenu),
);

export function DisplayMenu({
  onShowShortcuts,
  isCompact,
}: {
  onShowShortcuts: () => void;
  isCompact: boolean;
}) {
  const t = useTexts(texts);
  return (
    <LazyPopup
      kind="menu"
      {...(isCompact && { label: t.display })}
      className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-muted hover:bg-hover hover:text-ink data-popup-open:bg-hover data-popup-open:text-ink"
      render={(trigger) => (
        <OpenDisplayMenu
          trigger={trigger}
          side={isCompact ? "bottom" : "top"}
          onShowShortcuts={onShowShortcuts}
        />
      )}
    >
      <Icon name="display" />
      {!isCompact && t.display}
    </LazyPopup>
  );
}
