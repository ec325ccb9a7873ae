import type { ErrorComponentProps } from "@tanstack/react-router";
import { useRouter } from "@tanstack/react-router";
import { useTexts } from "../texts/texts.ts";
import { Failed, Loading, LostPage } from "../ui/states.tsx";
import { Page } from "./page.tsx";
import { texts } from "./texts.ts";

export function PagePending() {
  return <Loading />;
}

/** For a page that cannot be shown at all. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const t = useTexts(texts);
  const router = useRouter();
  const retry = (): void => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title={t.product}>
      {isOfScript(error) ? <LostPage onRetry={retry} /> : <Failed error={error} onRetry={retry} />}
    </Page>
  );
}

/** Each browser has its own words. */
function isOfScript(error: unknown): boolean {
  return error instanceof TypeError && /import/i.test(error.message);
}
