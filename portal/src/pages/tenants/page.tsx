import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { api, ApiError, asApiError, bodyOf, type Schemas } from "../../api/client.ts";
import { useFormat } from "../../display/format.ts";
import { useSessionState } from "../../session/gate.tsx";
import { openSession } from "../../session/session.ts";
import { useListKeys } from "../../shell/list-keys.ts";
import { Page } from "../../shell/page.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { useTexts } from "../../texts/texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { AskDialog } from "../../ui/dialog.tsx";
import { PagedList } from "../../ui/paged-list.tsx";
import { SearchInput } from "../../ui/field.tsx";
import { Empty, Failed, Loading, useErrorText } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { pageOf } from "../../url/link.ts";
import { texts } from "./texts.ts";

type Tenant = Schemas["Tenant"];

const route = getRouteApi("/tenants");
export const page = createLazyRoute("/tenants")({ component: TenantsPage });

function TenantsPage() {
  const t = useTexts(texts);
  const { prefix = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useRef<HTMLInputElement>(null);
  const list = useListKeys();
  const query = useTenants(prefix);
  const tenants = query.data?.pages.flatMap((one) => one.tenants) ?? [];
  useShortcuts([{ key: "f", about: t.focusFilter, run: () => filter.current?.focus() }]);
  return (
    <Page title={t.title} about={t.about}>
      <SearchInput
        ref={filter}
        label={t.filter}
        value={prefix}
        onChange={({ target }) =>
          void navigate({ search: target.value === "" ? {} : { prefix: target.value }, replace: true })
        }
        className="mb-3 max-w-sm"
      />
      {query.isPending ? (
        <Loading />
      ) : query.data === undefined ? (
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      ) : tenants.length === 0 ? (
        <Empty icon="people" title={t.emptyTitle}>
          {t.empty}
        </Empty>
      ) : (
        <PagedList ref={list} label={t.title} more={t.more} query={query}>
          {tenants.map((tenant) => (
            <TenantRow key={tenant.id} tenant={tenant} />
          ))}
        </PagedList>
      )}
    </Page>
  );
}

function useTenants(prefix: string) {
  return useInfiniteQuery({
    queryKey: ["tenants", prefix],
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }: { pageParam: string | null; signal: AbortSignal }) => {
      const params = { query: { prefix, ...(pageParam !== null && { after: pageParam }) } };
      const { data, response } = await api.GET("/api/tenants", { signal, params });
      if (data === undefined) throw new ApiError(500, null);
      return { tenants: data.tenants, next: pageOf(response, "after") };
    },
    getNextPageParam: ({ next }) => next,
  });
}

function TenantRow({ tenant }: { tenant: Tenant }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { id, endpoints, enabled, failing, delivered, failed } = tenant;
  const attempts = delivered + failed;
  return (
    <li
      data-row
      tabIndex={-1}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 -outline-offset-2"
    >
      <div className="min-w-0 flex-1 basis-60">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium wrap-anywhere" translate="no">
            {id}
          </span>
          {failing > 0 ? (
            <Badge tone="bad">{t.failing(format.number(failing))}</Badge>
          ) : (
            <Badge tone={attempts === 0 ? "plain" : "good"}>{attempts === 0 ? t.quiet : t.healthy}</Badge>
          )}
        </div>
        <p className="tabular text-sm text-muted">
          {t.endpoints(format.number(endpoints), endpoints)} · {t.enabled(format.number(enabled))}
          {attempts > 0 && ` · ${t.attempts(format.number(delivered), format.number(failed))}`}
        </p>
      </div>
      {attempts > 0 && (
        <span className="tabular text-sm text-muted">{format.percent(delivered / attempts)}</span>
      )}
      <OpenAs id={id} />
    </li>
  );
}

/** Swaps this session for one of the tenant, in this tab. */
function OpenAs({ id }: { id: string }) {
  const t = useTexts(texts);
  const state = useSessionState();
  const errorText = useErrorText();
  const navigate = route.useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const [isReadOnly, setIsReadOnly] = useState(true);
  const sub = state.kind === "open" ? state.claims.sub : "";
  const open = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST("/api/portal/codes", {
          body: { tenant_id: id, sub, role: "owner", path: "", minutes: 60, read_only: isReadOnly },
        }),
      ),
    async onSuccess({ url }) {
      const opening = openSession(new URLSearchParams(new URL(url).hash.slice(1)).get("code") ?? "");
      // No page is shown while a session opens, so none asks with the wrong one.
      // Back leads to no page of the operator's: the new session has none.
      await navigate({ to: "/endpoints", replace: true });
      await opening;
    },
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
  });
  return (
    <>
      <Button small icon="external" aria-label={t.openAs(id)} onClick={() => setIsAsking(true)}>
        {t.open}
      </Button>
      <AskDialog
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onYes={() => open.mutate()}
        isBusy={open.isPending}
        title={t.openTitle(id)}
        about={
          <>
            <p>{t.openAbout}</p>
            <label className="mt-3 flex items-center gap-2 text-ink">
              <input
                type="checkbox"
                checked={isReadOnly}
                onChange={({ target }) => setIsReadOnly(target.checked)}
              />
              {t.readOnly}
            </label>
          </>
        }
        yes={t.open}
      />
    </>
  );
}
