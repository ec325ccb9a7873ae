import { createLazyRoute, getRouteApi } from "@tanstack/react-router";
import { usePermissions } from "../../session/permissions.ts";
import { Page } from "../../shell/page.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Segments } from "../../ui/field.tsx";
import { ExportList } from "./export-list.tsx";
import { FileList } from "./file-list.tsx";
import { texts } from "./texts.ts";
import { Part } from "../../ui/part.tsx";
import { lazyPart } from "../../ui/lazy-part.tsx";

const NewExport = lazyPart(() => import("./new-export.tsx").then(({ NewExport }) => NewExport));

const route = getRouteApi("/exports");
export const page = createLazyRoute("/exports")({ component: ExportsPage });

function ExportsPage() {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const { view = "exports", kind, open, ...chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const begin = (): void =>
    void navigate({ search: (before) => ({ ...before, open: "new" }), resetScroll: false });
  const close = (): void =>
    void navigate({
      search: (before) => ({
        ...(before.view && { view: before.view }),
        ...(before.kind && { kind: before.kind }),
      }),
      resetScroll: false,
    });
  useShortcuts(mayWrite ? [{ key: "n", about: t.request, run: begin }] : []);
  const add = mayWrite && (
    <Button kind="primary" icon="plus" onClick={begin}>
      {t.request}
    </Button>
  );
  return (
    <Page title={t.title} about={t.about} actions={add}>
      <div className="mb-4">
        <Segments
          label={t.view}
          value={view}
          options={[
            { value: "exports", label: t.exports },
            { value: "files", label: t.files },
          ]}
          onChoose={(next) => void navigate({ search: next === "files" ? { view: next } : {} })}
        />
      </div>
      {view === "exports" ? (
        <ExportList add={add} />
      ) : (
        <FileList
          kind={kind}
          onKind={(next) =>
            void navigate({ search: next === undefined ? { view } : { view, kind: next }, replace: true })
          }
        />
      )}
      {open === "new" && mayWrite && (
        <Part>
          <NewExport chosen={chosen} onClose={close} />
        </Part>
      )}
    </Page>
  );
}
