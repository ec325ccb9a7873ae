import { useMutation, useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { api, bodyOf } from "../../api/client.ts";
import { endpointQuery } from "../../api/queries.ts";
import { EndpointForm } from "../../endpoints/endpoint-form.tsx";
import { changesOf, inputOf, type EndpointInput } from "../../endpoints/endpoint-input.ts";
import { forgetDraft } from "../../session/drafts.ts";
import { useDraftName, usePermissions } from "../../session/permissions.ts";
import { BackLink } from "../../shell/back-link.tsx";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { UrlText } from "../../ui/url-text.tsx";
import { texts } from "./texts.ts";

const route = getRouteApi("/endpoints/$endpointId/edit");
export const page = createLazyRoute("/endpoints/$endpointId/edit")({ component: EditEndpointPage });

type Edit = { input: EndpointInput; first: EndpointInput };

function EditEndpointPage() {
  const t = useTexts(texts);
  const { endpointId } = route.useParams();
  const query = useQuery({ ...endpointQuery(endpointId), staleTime: 0 });
  // The form keeps what it begins with: that must be how the endpoint is now.
  const data = query.isFetchedAfterMount ? query.data : undefined;
  const { error, refetch } = query;
  const { mayWrite } = usePermissions();
  const navigate = useNavigate();
  const draftName = useDraftName(endpointId);
  const change = useMutation({
    async mutationFn({ input, first }: Edit) {
      const params = { path: { id: endpointId } };
      const { endpoint } = await bodyOf(api.GET("/api/webhooks/{id}", { params }));
      const body = changesOf(first, input, inputOf(endpoint));
      return bodyOf(api.PATCH("/api/webhooks/{id}", { params, body }));
    },
    onSuccess() {
      forgetDraft(draftName);
      toast({ title: t.saved });
      void navigate({ to: "/endpoints/$endpointId", params: { endpointId } });
    },
  });
  const back = (
    <BackLink to="/endpoints/$endpointId" params={{ endpointId }}>
      {t.back}
    </BackLink>
  );
  return (
    <Page title={t.title} above={back} about={data && <UrlText url={data.endpoint.url} />}>
      {data !== undefined && !mayWrite ? (
        <Empty icon="key" title={t.readOnlyTitle}>
          {t.readOnly}
        </Empty>
      ) : data !== undefined ? (
        <EndpointForm
          key={endpointId}
          endpoint={data.endpoint}
          isBusy={change.isPending}
          error={change.error}
          onSubmit={(input, first) => change.mutate({ input, first })}
        />
      ) : error === null ? (
        <Loading />
      ) : (
        <Failed error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}
