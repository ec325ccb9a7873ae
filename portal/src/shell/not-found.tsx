import { useTexts } from "../texts/texts.ts";
import { LinkButton } from "../ui/button.tsx";
import { Empty } from "../ui/states.tsx";
import { Page } from "./page.tsx";
import { texts } from "./texts.ts";

export function NotFound() {
  const t = useTexts(texts);
  return (
    <Page title={t.notFoundTitle}>
      <Empty
        icon="search"
        title={t.notFoundTitle}
        action={<LinkButton to="/endpoints">{t.toStart}</LinkButton>}
      >
        {t.notFound}
      </Empty>
    </Page>
  );
}
