import { useTexts } from "../texts/texts.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { texts } from "./secret-texts.ts";

/** Shows a secret the one time that it can be seen. */
export function SecretDialog({
  secret,
  about,
  onClose,
}: {
  secret: string;
  about: string;
  onClose: () => void;
}) {
  const t = useTexts(texts);
  return (
    <Dialog
      isOpen
      isFirm
      onClose={onClose}
      title={t.title}
      about={about}
      footer={
        <Button kind="primary" icon="check" onClick={onClose}>
          {t.stored}
        </Button>
      }
    >
      <div className="mt-4 flex items-start gap-2 rounded-lg border border-line bg-sunken p-3">
        <code aria-label={t.secret} className="min-w-0 flex-1 font-mono text-sm break-all select-all">
          {secret}
        </code>
        <CopyButton text={secret} />
      </div>
      <p className="mt-2 text-sm text-muted">{t.once}</p>
    </Dialog>
  );
}
