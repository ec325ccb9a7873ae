import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi } from "@tanstack/react-router";
import { useId, useMemo, useState } from "react";
import type { Endpoint, EventType } from "../../api/client.ts";
import { endpointQuery, eventTypesQuery } from "../../api/queries.ts";
import { usePermissions } from "../../session/permissions.ts";
import { BackLink } from "../../shell/back-link.tsx";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { LinkButton } from "../../ui/button.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { UrlText } from "../../ui/url-text.tsx";
import { Payload } from "./payload.tsx";
import { Results } from "./results.tsx";
import { choicesOf } from "./test-request.ts";
import { texts } from "./texts.ts";
import type { Tested } from "./use-tests.ts";

const PATH = "/endpoints/$endpointId/test";
const route = getRouteApi(PATH);
export const page = createLazyRoute(PATH)({ component: TestPage });

function TestPage() {
  const t = useTexts(texts);
  const { endpointId } = route.useParams();
  const endpoint = useQuery(endpointQuery(endpointId));
  const types = useQuery(eventTypesQuery);
  const { mayWrite } = usePermissions();
  const back = (
    <BackLink to="/endpoints/$endpointId" params={{ endpointId }}>
      {t.back}
    </BackLink>
  );
  const error = endpoint.error ?? types.error;
  const isRead = endpoint.data !== undefined && types.data !== undefined;
  const retry = (): void => void Promise.all([endpoint.refetch(), types.refetch()]);
  return (
    <Page title={t.title} above={back} about={endpoint.data && <UrlText url={endpoint.data.endpoint.url} />}>
      {!isRead ? (
        error === null ? (
          <Loading />
        ) : (
          <Failed error={error} onRetry={retry} />
        )
      ) : mayWrite ? (
        <Tests key={endpointId} endpoint={endpoint.data.endpoint} types={types.data} />
      ) : (
        <Empty icon="key" title={t.readOnlyTitle}>
          {t.readOnly}
        </Empty>
      )}
    </Page>
  );
}

function Tests({ endpoint, types }: { endpoint: Endpoint; types: readonly EventType[] }) {
  const t = useTexts(texts);
  const id = useId();
  const { type } = route.useSearch();
  const navigate = route.useNavigate();
  const choices = useMemo(() => choicesOf(endpoint, types), [endpoint, types]);
  const [tested, setTested] = useState<readonly Tested[]>([]);
  const chosen = choices.find(({ name }) => name === type) ?? (type === undefined ? choices[0] : undefined);
  if (choices.length === 0) {
    return (
      <Empty
        icon="test"
        title={t.nothingTitle}
        action={
          <LinkButton icon="edit" to="/endpoints/$endpointId/edit" params={{ endpointId: endpoint.id }}>
            {t.edit}
          </LinkButton>
        }
      >
        {t.nothing}
      </Empty>
    );
  }
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <section aria-labelledby={id} className="min-w-0 space-y-4">
        <h2 id={id} className="text-lg font-semibold">
          {t.event}
        </h2>
        <Select
          label={t.type}
          value={chosen?.name ?? ""}
          onChange={(name) => void navigate({ search: { type: name } })}
        >
          {chosen === undefined && <option value="">{t.choose}</option>}
          {[...Map.groupBy(choices, ({ entry }) => entry.group)].map(([group, members]) => (
            <optgroup key={group} label={group}>
              {members.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </optgroup>
          ))}
        </Select>
        {chosen === undefined ? (
          <p className="text-muted">{t.notSubscribed(type ?? "")}</p>
        ) : (
          <Payload
            key={chosen.name}
            endpointId={endpoint.id}
            eventType={chosen.name}
            example={chosen.entry.payloadShape}
            onTested={(one) => setTested((before) => [one, ...before])}
          />
        )}
      </section>
      <Results tested={tested} />
    </div>
  );
}
