import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, bodyOf } from "../../api/client.ts";
import { useFormat, useNow } from "../../display/format.ts";
import { useListKeys } from "../../shell/list-keys.ts";
import { useTexts } from "../../texts/texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { PagedList } from "../../ui/paged-list.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { DownloadButton, Expiry, FileActions, isErased, type Artifact } from "./file-actions.tsx";
import { KINDS } from "./kinds.ts";
import { texts } from "./texts.ts";

type Kind = Artifact["kind"];
type FileListProps = { kind: Kind | undefined; onKind: (kind: Kind | undefined) => void };

/** Everything that is stored, whatever made it. */
export function FileList({ kind, onKind }: FileListProps) {
  const t = useTexts(texts);
  return (
    <>
      <div className="mb-3 w-fit">
        <Select
          label={t.kind}
          value={kind ?? ""}
          onChange={(value) => onKind(KINDS.find((one) => one === value))}
        >
          <option value="">{t.anyKind}</option>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {t.kinds[one]}
            </option>
          ))}
        </Select>
      </div>
      <Files kind={kind} />
    </>
  );
}

function Files({ kind }: { kind: Kind | undefined }) {
  const t = useTexts(texts);
  const list = useListKeys();
  const query = useInfiniteQuery({
    queryKey: ["files", "list", kind],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }: { pageParam: string | null; signal: AbortSignal }) => {
      const params = {
        query: { ...(kind !== undefined && { kind }), ...(pageParam !== null && { after: pageParam }) },
      };
      return bodyOf(api.GET("/api/storage/library", { signal, params }));
    },
    getNextPageParam: ({ next }) => next,
  });
  const files = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  if (query.isPending) return <Loading />;
  if (query.data === undefined) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  if (files.length === 0) {
    return (
      <Empty icon="archive" title={kind === undefined ? t.noFilesTitle : t.noneTitle}>
        {kind === undefined ? t.noFiles : t.none}
      </Empty>
    );
  }
  return (
    <PagedList ref={list} label={t.files} more={t.more} query={query}>
      {files.map((file) => (
        <FileRow key={file.id} file={file} />
      ))}
    </PagedList>
  );
}

function FileRow({ file }: { file: Artifact }) {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  return (
    <li
      data-row
      tabIndex={-1}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 -outline-offset-2 sm:flex-nowrap"
    >
      <div className="min-w-0 flex-1 basis-full sm:basis-0">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <span className="font-medium wrap-anywhere" translate="no">
            {file.filename}
          </span>
          {file.status === "unavailable" && <Badge tone="bad">{t.unavailable}</Badge>}
          {file.status === "expired" && (
            <Badge tone="plain">{isErased(file, now) ? t.erased : t.status.expired}</Badge>
          )}
          <Expiry file={file} />
        </div>
        <p className="tabular mt-0.5 text-sm text-muted">
          {t.kinds[file.kind]} · {format.bytes(file.size)} · {t.stored} <Ago at={file.available_at} />
          {file.kind !== "export" && (
            <>
              {" · "}
              <Link
                to="/log"
                search={{ range: "30d", d: file.delivery_id }}
                className="text-accent hover:underline"
              >
                {t.ofDelivery}
              </Link>
            </>
          )}
        </p>
        {file.status === "unavailable" && <p className="mt-1 text-sm text-muted">{t.unavailableAbout}</p>}
      </div>
      <div className="flex items-center gap-1.5">
        {file.downloadable && <DownloadButton file={file} />}
        <FileActions file={file} />
      </div>
    </li>
  );
}
