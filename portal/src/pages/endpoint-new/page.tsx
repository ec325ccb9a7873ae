import { useMutation } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { api, bodyOf } from "../../api/client.ts";
import { sessionQuery } from "../../api/queries.ts";
import { EndpointForm } from "../../endpoints/endpoint-form.tsx";
import type { requestOf } from "../../endpoints/endpoint-input.ts";
import { BackLink } from "../../shell/back-link.tsx";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/states.tsx";
import { texts } from "./texts.ts";

export const page = createLazyRoute("/endpoints/new")({ component: NewEndpointPage });

function NewEndpointPage() {
  const t = useTexts(texts);
  const { data: session } = useQuery(sessionQuery);
  const creation = useMutation({
    mutationFn: (body: ReturnType<typeof requestOf>) => bodyOf(api.POST("/api/webhooks", { body })),
  });
  const isReadOnly = session !== undefined && !session.permissions.includes("settings:write");
  return (
    <Page title={t.title} above={<BackLink to="/endpoints">{t.back}</BackLink>}>
      {isReadOnly ? (
        <Empty icon="key" title={t.readOnlyTitle}>
          {t.readOnly}
        </Empty>
      ) : (
        <EndpointForm
          endpoint={null}
          isBusy={creation.isPending}
          error={creation.error}
          onSubmit={(request) => creation.mutate(request)}
        />
      )}
      {creation.data !== undefined && (
        <NewSecret endpointId={creation.data.endpoint.id} secret={creation.data.secret} />
      )}
    </Page>
  );
}

function NewSecret({ endpointId, secret }: { endpointId: string; secret: string }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const close = (): void =>
    void navigate({ to: "/endpoints/$endpointId", params: { endpointId }, replace: true });
  return (
    <Dialog
      isOpen
      isFirm
      onClose={close}
      title={t.secretTitle}
      about={t.secretAbout}
      footer={
        <Button kind="primary" icon="check" onClick={close}>
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
    </Dialog>
  );
}
