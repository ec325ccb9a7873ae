import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, type ReactNode } from "react";
import { api, ApiError, asApiError, bodyOf, type Schemas } from "../../api/client.ts";
import { useFormat } from "../../display/format.ts";
import { useEndpointName } from "../../endpoints/endpoint-names.ts";
import { usePermissions } from "../../session/permissions.ts";
import { useListKeys } from "../../shell/list-keys.ts";
import { useTexts } from "../../texts/texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { PagedList } from "../../ui/paged-list.tsx";
import { Empty, Failed, Loading, useErrorText } from "../../ui/states.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { Ago } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { pageOf } from "../../url/link.ts";
import { againOf } from "./export-request.ts";
import { DownloadButton, Expiry, FileActions } from "./file-actions.tsx";
import { texts } from "./texts.ts";

type Export = Schemas["Export"];
type Artifact = Schemas["Artifact"];

const PAGE_ROWS = 50;
/** While an export is made, a person watches it. A page out of sight asks nothing. */
const WATCH_MS = 1500;
const TONES: Record<Export["status"], Tone> = {
  queued: "wait",
  running: "accent",
  ready: "good",
  failed: "bad",
  expired: "plain",
};

function isUnfinished({ status }: Export): boolean {
  return status === "queued" || status === "running";
}

export function ExportList({ add }: { add: ReactNode }) {
  const t = useTexts(texts);
  const list = useListKeys();
  const query = useInfiniteQuery({
    queryKey: ["exports"],
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }: { pageParam: string | null; signal: AbortSignal }) => {
      const params = { query: { limit: PAGE_ROWS, ...(pageParam !== null && { before: pageParam }) } };
      const { data, response } = await api.GET("/api/storage/exports", { signal, params });
      if (data === undefined) throw new ApiError(500, null);
      return { exports: data.exports, next: pageOf(response, "before") };
    },
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.exports.some(isUnfinished)) === true ? WATCH_MS : false,
  });
  const exports = useMemo(() => query.data?.pages.flatMap((page) => page.exports) ?? [], [query.data]);
  useArchivesAfter(exports);
  if (query.isPending) return <Loading />;
  if (query.data === undefined) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  if (exports.length === 0) {
    return (
      <Empty icon="archive" title={t.emptyTitle} action={add}>
        {t.empty}
      </Empty>
    );
  }
  return (
    <PagedList ref={list} label={t.exports} more={t.more} query={query}>
      {exports.map((one) => (
        <ExportRow key={one.id} one={one} />
      ))}
    </PagedList>
  );
}

/** Files come with each export that ends. */
function useArchivesAfter(exports: readonly Export[]): void {
  const queryClient = useQueryClient();
  const unfinished = exports.filter(isUnfinished).length;
  const before = useRef(unfinished);
  useEffect(() => {
    if (unfinished < before.current) void queryClient.invalidateQueries({ queryKey: ["files"] });
    before.current = unfinished;
  }, [unfinished, queryClient]);
}

function ExportRow({ one }: { one: Export }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { mayWrite } = usePermissions();
  const { data: file } = useArchive(one);
  const { rows_done: done, rows_total: counted } = one.progress;
  const deleted = (counted ?? done) - done;
  return (
    <li
      data-row
      tabIndex={-1}
      className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3 -outline-offset-2 sm:flex-nowrap"
    >
      <div className="min-w-0 flex-1 basis-full sm:basis-0">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <span className="font-medium">
            {format.dateTime(new Date(one.from))} – {format.dateTime(new Date(one.to))}
          </span>
          <Badge tone={TONES[one.status]}>{t.status[one.status]}</Badge>
          {file !== undefined && <Expiry file={file} />}
        </div>
        <Filter one={one} />
        <p className="tabular mt-0.5 text-sm text-muted">
          {t.requested} <Ago at={one.created_at} />
          {(one.status === "ready" || one.status === "expired") && (
            <> · {t.rows(format.number(done), done)}</>
          )}
          {file !== undefined && <> · {format.bytes(file.size)}</>}
        </p>
        <Progress one={one} />
        {one.status === "ready" && deleted > 0 && (
          <p className="mt-1 text-sm text-muted">{t.deletedMeanwhile(format.number(deleted))}</p>
        )}
        {one.status === "expired" && <p className="mt-1 text-sm text-muted">{t.expiredAbout}</p>}
        {one.status === "failed" && (
          <p className="mt-1 text-sm">
            <span className="text-bad wrap-anywhere">{one.error ?? t.failedUnknown}</span>{" "}
            <span className="text-muted">{t.failedAbout}</span>
          </p>
        )}
      </div>
      <div className="flex items-center gap-1.5">
        {file?.downloadable === true && <DownloadButton file={file} />}
        {mayWrite && (one.status === "failed" || one.status === "expired") && <AgainButton one={one} />}
        {file !== undefined && <FileActions file={file} />}
      </div>
    </li>
  );
}

function useArchive({ status, object_id: id }: Export) {
  return useQuery({
    queryKey: ["files", id],
    enabled: status === "ready" && id !== null,
    queryFn: async ({ signal }): Promise<Artifact> =>
      (
        await bodyOf(
          api.GET("/api/storage/objects/{object_id}", { signal, params: { path: { object_id: id ?? "" } } }),
        )
      ).object,
  });
}

function Filter({ one }: { one: Export }) {
  const t = useTexts(texts);
  const own = useTexts(uiTexts);
  const nameOf = useEndpointName(t.unknownEndpoint);
  const { endpoint_id: endpoint, event_type: type, delivery_status: status, formats } = one;
  const parts = [
    endpoint === null ? t.allEndpoints : nameOf(endpoint),
    type ?? t.allTypes,
    status === null ? t.anyStatus : own[status],
    formats.map((format) => t.formats[format]).join(", "),
  ];
  return <p className="text-sm wrap-anywhere text-muted">{parts.join(" · ")}</p>;
}

function Progress({ one }: { one: Export }) {
  const t = useTexts(texts);
  const format = useFormat();
  if (!isUnfinished(one)) return null;
  const { rows_done: done, rows_total: total, bytes } = one.progress;
  if (one.status === "queued") return <p className="mt-1 text-sm text-muted">{t.queuedAbout}</p>;
  const share = total === null || total === 0 ? undefined : Math.min(1, done / total);
  return (
    <>
      <progress
        {...(share !== undefined && { value: share })}
        aria-label={share === undefined ? t.counting : t.progress(format.percent(share))}
        className="mt-2 block h-1.5 w-full overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-accent"
      />
      <p className="tabular mt-1 text-sm text-muted">
        {total === null ? t.counting : t.of(format.number(done), format.number(total))}
        {bytes > 0 && ` · ${format.bytes(bytes)}`}
      </p>
    </>
  );
}

function AgainButton({ one }: { one: Export }) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  const again = useMutation({
    mutationFn: () => bodyOf(api.POST("/api/storage/exports", { body: againOf(one) })),
    onSuccess: () => toast({ title: t.begun }),
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
  });
  return (
    <Button small icon="retry" isBusy={again.isPending} onClick={() => again.mutate()}>
      {t.again}
    </Button>
  );
}
