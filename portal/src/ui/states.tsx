/** What stands in place of content: loading, nothing there, an error, no permission. */
import { useDeferredValue, type ReactNode } from "react";
import { asApiError, type ApiError, type Schemas } from "../api/client.ts";
import { useFormat } from "../display/format.ts";
import { useTexts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { focusAround } from "./focus.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Spinner } from "./spinner.tsx";
import { texts } from "./texts.ts";

/** Whether to show that a list is loading: also while its rows are made, in pieces that don't hold the browser up. */
export function useIsLoading(isPending: boolean): boolean {
  return useDeferredValue(isPending) || isPending;
}

export function Loading() {
  const t = useTexts(texts);
  return (
    <div role="status" className="flex items-center justify-center gap-2 p-10 text-muted">
      <Spinner />
      {t.loading}
    </div>
  );
}

type EmptyProps = { icon: IconName; title: string; children?: ReactNode; action?: ReactNode };

export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      <span className="mb-3 flex size-10 items-center justify-center rounded-full bg-hover text-muted">
        <Icon name={icon} className="size-5" />
      </span>
      <p className="text-lg font-semibold text-balance">{title}</p>
      {children !== undefined && <div className="mt-1 max-w-md text-muted text-pretty">{children}</div>}
      {action !== undefined && <div className="mt-5">{action}</div>}
    </div>
  );
}

export function useErrorText() {
  const t = useTexts(texts);
  const format = useFormat();
  return (error: ApiError): { title: string; about: string } => {
    switch (error.kind) {
      case "network":
        return { title: t.networkTitle, about: t.network };
      case "outage":
        return { title: t.outageTitle, about: t.outage };
      case "forbidden":
        return { title: t.forbiddenTitle, about: t.forbidden };
      case "absent":
        return { title: t.absentTitle, about: t.absent };
      case "limited":
        return {
          title: t.limitedTitle,
          about: t.limited(error.retryAfterS === null ? null : format.wait(error.retryAfterS)),
        };
      case "refused":
        return {
          title: t.refusedTitle,
          about: [error.message, ...error.issues.map((issue) => issueText(issue, t.issues))].join(". "),
        };
      default:
        return { title: t.faultTitle, about: t.fault };
    }
  };
}

/** With the name of what it is about: of many headers it may be any. */
function issueText({ path, message }: Schemas["Issue"], words: Readonly<Record<string, string>>): string {
  const name = path.findLast((part) => typeof part === "string");
  const text = words[message] ?? message;
  return name === undefined ? text : `${name}: ${text}`;
}

/** Of what could not be read. It goes once that is read anew. */
function RetryButton({ onRetry, small = false }: { onRetry: () => void; small?: boolean }) {
  const t = useTexts(texts);
  const retry = (): void => {
    focusAround();
    onRetry();
  };
  return (
    <Button small={small} icon="retry" onClick={retry}>
      {t.tryAgain}
    </Button>
  );
}

/** In place of figures, since 0 would be read as a count, or of a section. */
export function Unread({ about, error, onRetry }: { about: string; error: unknown; onRetry: () => void }) {
  const errorText = useErrorText()(asApiError(error));
  return (
    <div role="alert" className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <p className="text-bad">
        {about} {errorText.title}.
      </p>
      <RetryButton small onRetry={onRetry} />
    </div>
  );
}

/** For a query that has no data to show. */
export function Failed({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const known = asApiError(error);
  const { title, about } = useErrorText()(known);
  const icon = known.kind === "forbidden" ? "key" : known.kind === "absent" ? "search" : "alert";
  const canRetry = onRetry !== undefined && known.kind !== "forbidden" && known.kind !== "absent";
  return (
    <div role="alert">
      <Empty icon={icon} title={title} {...(canRetry && { action: <RetryButton onRetry={onRetry} /> })}>
        {about}
      </Empty>
    </div>
  );
}

/** For a page whose script did not arrive. A newer release may have taken it away: then only a reload helps. */
export function LostPage({ onRetry }: { onRetry: () => void }) {
  const t = useTexts(texts);
  return (
    <div role="alert">
      <Empty icon="alert" title={t.lostTitle} action={<RetryButton onRetry={onRetry} />}>
        {t.lost}
      </Empty>
    </div>
  );
}

/** Why a form was refused; nothing where `error` is null. */
export function FormError({ error }: { error: unknown }) {
  const errorText = useErrorText();
  if (error === null) return <div role="alert" />;
  const known = asApiError(error);
  const { title, about } = errorText(known);
  return (
    <div role="alert" className="rounded-lg border border-bad bg-bad-soft px-4 py-3 text-bad">
      <p className="font-medium">{title}</p>
      <p className="text-sm wrap-anywhere">{about}</p>
    </div>
  );
}
