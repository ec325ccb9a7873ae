import { useIsOperator, usePermissions, useSession } from "../session/permissions.ts";
import { useTexts } from "../texts/texts.ts";
import { texts } from "./texts.ts";

/** Whose webhooks these are, and who looks at them. */
export function Who() {
  const t = useTexts(texts);
  const isOperator = useIsOperator();
  const session = useSession();
  const { mayWrite } = usePermissions();
  const about = isOperator ? t.operator : mayWrite ? t.role(session?.role ?? "") : t.readOnly;
  return (
    <div className="flex items-center gap-2.5 px-2">
      <span
        aria-hidden
        className="flex size-8 shrink-0 items-center justify-center rounded-lg bg-accent font-semibold text-on-accent"
      >
        {(session?.tenant ?? t.product).slice(0, 1).toUpperCase()}
      </span>
      <div className="min-w-0 leading-tight">
        <p className="truncate font-semibold">{session?.tenant ?? t.product}</p>
        <p className="truncate text-xs text-muted">{about}&nbsp;</p>
      </div>
    </div>
  );
}
