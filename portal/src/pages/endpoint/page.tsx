import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { endpointQuery, endpointStatsQuery } from "../../api/queries.ts";
import type { Endpoint } from "../../api/client.ts";
import { useFormat } from "../../display/format.ts";
import { EndpointActions } from "../../endpoints/endpoint-actions.tsx";
import { stateOf } from "../../endpoints/endpoint-state.ts";
import { StateBadge } from "../../endpoints/state-badge.tsx";
import { texts as endpointTexts } from "../../endpoints/texts.ts";
import { usePermissions } from "../../session/permissions.ts";
import { BackLink } from "../../shell/back-link.tsx";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { LinkButton } from "../../ui/button.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { UrlText } from "../../ui/url-text.tsx";
import { texts } from "./texts.ts";

const route = getRouteApi("/endpoints/$endpointId");
export const page = createLazyRoute("/endpoints/$endpointId")({ component: EndpointPage });

function EndpointPage() {
  const t = useTexts(texts);
  const { endpointId } = route.useParams();
  const { data, error, refetch } = useQuery(endpointQuery(endpointId));
  if (data === undefined) {
    return (
      <Page title={t.title} above={<BackLink to="/endpoints">{t.back}</BackLink>}>
        {error === null ? <Loading /> : <Failed error={error} onRetry={() => void refetch()} />}
      </Page>
    );
  }
  return <Shown endpoint={data.endpoint} />;
}

function Shown({ endpoint }: { endpoint: Endpoint }) {
  const t = useTexts(texts);
  const own = useTexts(endpointTexts);
  const format = useFormat();
  const navigate = useNavigate();
  const { mayWrite } = usePermissions();
  const { data: stats } = useQuery(endpointStatsQuery);
  const state = stateOf(
    endpoint,
    stats?.endpoints.find(({ endpoint_id: id }) => id === endpoint.id),
  );
  return (
    <Page
      title={endpoint.url}
      heading={<UrlText url={endpoint.url} />}
      above={<BackLink to="/endpoints">{t.back}</BackLink>}
      about={endpoint.description}
      actions={
        <>
          {mayWrite && (
            <LinkButton icon="edit" to="/endpoints/$endpointId/edit" params={{ endpointId: endpoint.id }}>
              {t.edit}
            </LinkButton>
          )}
          <EndpointActions
            endpoint={endpoint}
            onDeleted={() => navigate({ to: "/endpoints", replace: true })}
          />
        </>
      }
    >
      <div className="flex flex-wrap items-center gap-2">
        <StateBadge state={state} />
        <span className="text-muted">{own.reason[state]}</span>
      </div>
      <dl className="mt-5 grid gap-x-8 gap-y-3 sm:grid-cols-[auto_1fr]">
        <dt className="text-muted">{t.events}</dt>
        <dd translate="no">{endpoint.events.includes("*") ? own.allEvents : endpoint.events.join(", ")}</dd>
        <dt className="text-muted">{t.created}</dt>
        <dd>{format.dateTime(new Date(endpoint.created_at))}</dd>
        <dt className="text-muted">{t.id}</dt>
        <dd className="font-mono text-sm select-all">{endpoint.id}</dd>
      </dl>
    </Page>
  );
}
