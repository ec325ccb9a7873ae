import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi } from "@tanstack/react-router";
import type { Endpoint } from "../../api/client.ts";
import { endpointQuery } from "../../api/queries.ts";
import { usePermissions } from "../../session/permissions.ts";
import { BackLink } from "../../shell/back-link.tsx";
import { Page } from "../../shell/page.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Segments } from "../../ui/field.tsx";
import { Part } from "../../ui/part.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { UrlText } from "../../ui/url-text.tsx";
import { Rotation } from "./rotation.tsx";
import { TABS } from "./tabs.ts";
import { texts } from "./texts.ts";
import { lazyPart } from "../../ui/lazy-part.tsx";

const Verify = lazyPart(() => import("./verify.tsx").then(({ Verify }) => Verify));
const Debugger = lazyPart(() => import("./debugger.tsx").then(({ Debugger }) => Debugger));

const PATH = "/endpoints/$endpointId/secret";
const route = getRouteApi(PATH);
export const page = createLazyRoute(PATH)({ component: SecretPage });

function SecretPage() {
  const t = useTexts(texts);
  const { endpointId } = route.useParams();
  const { data, error, refetch } = useQuery(endpointQuery(endpointId));
  const back = (
    <BackLink to="/endpoints/$endpointId" params={{ endpointId }}>
      {t.back}
    </BackLink>
  );
  return (
    <Page title={t.title} above={back} about={data && <UrlText url={data.endpoint.url} />}>
      {data !== undefined ? (
        <Tabs key={endpointId} endpoint={data.endpoint} />
      ) : error === null ? (
        <Loading />
      ) : (
        <Failed error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

function Tabs({ endpoint }: { endpoint: Endpoint }) {
  const t = useTexts(texts);
  const { mayWrite, isOwner } = usePermissions();
  const mayRotate = mayWrite && isOwner;
  const { tab = "rotate", language = "node", delivery } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <div className="mb-5 max-w-full overflow-x-auto">
        <Segments
          label={t.parts}
          value={tab}
          options={TABS.map((value) => ({ value, label: t.tabs[value] }))}
          onChoose={(chosen) => void navigate({ search: chosen === "rotate" ? {} : { tab: chosen } })}
        />
      </div>
      <Part fallback={<Loading />}>
        {tab === "rotate" && <Rotation endpoint={endpoint} mayRotate={mayRotate} />}
        {tab === "verify" && (
          <Verify
            endpoint={endpoint}
            language={language}
            onLanguage={(chosen) =>
              void navigate({ search: { tab, language: chosen }, replace: true, resetScroll: false })
            }
          />
        )}
        {tab === "debug" && (
          <Debugger
            endpointId={endpoint.id}
            deliveryId={delivery}
            onDelivery={(id) =>
              void navigate({ search: { tab, delivery: id }, replace: true, resetScroll: false })
            }
          />
        )}
      </Part>
    </>
  );
}
