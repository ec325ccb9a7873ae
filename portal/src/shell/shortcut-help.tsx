import { useTexts } from "../texts/texts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useDialogDepth } from "../ui/dialog-depth.ts";
import { useKnownShortcuts, type Shortcut } from "./shortcuts.ts";
import { texts } from "./texts.ts";

/** The keys of the page, or of the dialog, that this is in. */
export function ShortcutHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useTexts(texts);
  const known = useKnownShortcuts();
  const own = useDialogDepth();
  const here = known.filter(({ isEverywhere, depth }) => depth === own && isEverywhere !== true);
  const all = known.filter(
    ({ key, isEverywhere, depth }) =>
      depth === own && isEverywhere === true && !here.some((one) => one.key === key),
  );
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t.shortcuts}>
      {here.length > 0 && <Keys title={t.shortcutsHere} shortcuts={here} />}
      {all.length > 0 && <Keys title={t.shortcutsAll} shortcuts={all} />}
    </Dialog>
  );
}

function Keys({ title, shortcuts }: { title: string; shortcuts: readonly Shortcut[] }) {
  return (
    <section className="mt-3 first:mt-0">
      <h3 className="mb-1 text-sm font-medium text-muted">{title}</h3>
      <dl className="divide-y divide-line">
        {shortcuts.map(({ key, about }) => (
          <div key={key} className="flex items-center justify-between gap-4 py-1.5">
            <dt>{about}</dt>
            <dd>
              <kbd className="inline-block min-w-6 rounded border border-line bg-sunken px-1.5 py-0.5 text-center font-mono text-xs">
                {key}
              </kbd>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
