import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, bodyOf, type Schemas } from "../../api/client.ts";
import { useCauseTexts } from "../../deliveries/cause.ts";
import { useFormat } from "../../display/format.ts";
import { usePermissions } from "../../session/permissions.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Failed } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import type { Range } from "../../url/range.ts";
import { texts } from "./texts.ts";

type Causes = Schemas["GetFailureCausesAnswer"]["causes"];

export function useCauses(endpointId: string, from: Date): UseQueryResult<Causes> {
  const query = { from: from.toISOString(), endpoint_id: endpointId };
  return useQuery({
    queryKey: ["stats", "causes", query],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET("/api/stats/causes", { signal, params: { query } }))).causes,
  });
}

type CausesProps = {
  causes: UseQueryResult<Causes>;
  endpointId: string;
  range: Range;
  onReplay: (cause: string) => void;
};

/** Why attempts failed, the most frequent cause first, each with the way to its deliveries. */
export function CauseList({ causes, endpointId, range, onReplay }: CausesProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const { mayWrite } = usePermissions();
  const { title, advice } = useCauseTexts();
  if (causes.isError) return <Failed error={causes.error} onRetry={() => void causes.refetch()} />;
  const found = causes.data ?? [];
  const most = Math.max(1, ...found.map(({ count }) => count));
  return (
    <section className="mt-8">
      <h2 className="mb-2 text-lg font-semibold">{t.causes}</h2>
      {causes.data !== undefined && found.length === 0 && <p className="text-muted">{t.noFailures}</p>}
      {found.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">
          {found.map(({ cause, count, last_at: last }) => (
            <li key={cause} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
              <div className="min-w-0 flex-1 basis-72">
                <p className="flex items-baseline gap-2">
                  <Link
                    to="/log"
                    search={{
                      endpoint: endpointId,
                      status: "failed",
                      cause,
                      ...(range !== "24h" && { range }),
                    }}
                    className="font-medium underline decoration-line-strong underline-offset-2 hover:decoration-ink"
                  >
                    {title(cause)}
                  </Link>
                  <code className="font-mono text-xs text-muted">{cause.replace(/^http_/, "")}</code>
                </p>
                <p className="text-sm text-muted">{advice(cause)}</p>
              </div>
              <div className="w-40">
                <p className="tabular flex justify-between text-sm">
                  <span>{format.number(count)}</span>
                  <span className="text-muted">
                    <Ago at={last} />
                  </span>
                </p>
                <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden className="mt-1 h-1 w-full">
                  <rect width={(100 * count) / most} height="4" className="fill-bad-fill" />
                </svg>
              </div>
              {mayWrite && (
                <Button small icon="retry" onClick={() => onReplay(cause)}>
                  {t.replayThese}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
