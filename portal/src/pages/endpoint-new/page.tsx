import { useMutation } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { api, bodyOf } from "../../api/client.ts";
import { EndpointForm } from "../../endpoints/endpoint-form.tsx";
import { requestOf } from "../../endpoints/endpoint-input.ts";
import { SecretDialog } from "../../endpoints/secret-dialog.tsx";
import { useStayWhile } from "../../endpoints/use-stay-while.ts";
import { forgetDraft } from "../../session/drafts.ts";
import { useDraftName, usePermissions } from "../../session/permissions.ts";
import { BackLink } from "../../shell/back-link.tsx";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Empty } from "../../ui/states.tsx";
import { texts } from "./texts.ts";

export const page = createLazyRoute("/endpoints/new")({ component: NewEndpointPage });

function NewEndpointPage() {
  const t = useTexts(texts);
  const { mayWrite } = usePermissions();
  const draftName = useDraftName("new");
  const creation = useMutation({
    mutationFn: (body: ReturnType<typeof requestOf>) => bodyOf(api.POST("/api/webhooks", { body })),
    onSuccess: () => forgetDraft(draftName),
  });
  const navigate = useNavigate();
  const leaveTo = (endpointId: string): void =>
    void navigate({
      to: "/endpoints/$endpointId",
      params: { endpointId },
      replace: true,
      ignoreBlocker: true,
    });
  useStayWhile(creation.isPending || creation.isSuccess);
  return (
    <Page title={t.title} above={<BackLink to="/endpoints">{t.back}</BackLink>}>
      {mayWrite ? (
        <EndpointForm
          endpoint={null}
          isBusy={creation.isPending}
          error={creation.error}
          onSubmit={(input) => creation.mutate(requestOf(input))}
        />
      ) : (
        <Empty icon="key" title={t.readOnlyTitle}>
          {t.readOnly}
        </Empty>
      )}
      {creation.data !== undefined && (
        <SecretDialog
          secret={creation.data.secret}
          about={t.secretAbout}
          onClose={() => leaveTo(creation.data.endpoint.id)}
        />
      )}
    </Page>
  );
}
