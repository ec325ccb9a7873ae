import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState, type PointerEvent, type ReactNode } from "react";
import { api, bodyOf, type Schemas } from "../api/client.ts";
import { useFormat } from "../display/format.ts";
import { defineTexts, useTexts } from "../texts/texts.ts";
import { countedFrom } from "./counted-span.ts";
import { FAILED_DASHES } from "../ui/sparkline.tsx";
import { Unread } from "../ui/states.tsx";
import { texts as uiTexts } from "../ui/texts.ts";

const texts = defineTexts({
  en: {
    chart: (delivered: string, failed: string) => `${delivered} delivered and ${failed} failed in this time`,
    delivered: (count: string) => `${count} delivered`,
    failed: (count: string) => `${count} failed`,
    unread: "The deliveries could not be counted.",
    hint: "Drag over a part to look at it alone.",
    cut: "The bars count the last 400 days of this time.",
  },
  de: {
    chart: (delivered: string, failed: string) =>
      `${delivered} zugestellt und ${failed} fehlgeschlagen in dieser Zeit`,
    delivered: (count: string) => `${count} zugestellt`,
    failed: (count: string) => `${count} fehlgeschlagen`,
    unread: "Die Zustellungen ließen sich nicht zählen.",
    hint: "Ziehen Sie über einen Teil, um nur ihn zu sehen.",
    cut: "Die Balken zählen die letzten 400 Tage dieser Zeit.",
  },
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BUCKET_MS = { "10m": 600_000, "1h": HOUR_MS, "1d": DAY_MS } as const;
const HEIGHT = 64;
const MIN_BAR = 1.5;
const TICKS = 4;

type ChartSpan = { from: Date; to: Date | null; endpointId?: string | undefined };
type Bucket = Schemas["GetStatsAnswer"]["buckets"][number];

function statsQuery({ from, to, endpointId }: ChartSpan) {
  const spanMs = (to ?? new Date()).getTime() - from.getTime();
  const bucket = spanMs <= 36 * HOUR_MS ? "10m" : spanMs <= 14 * 24 * HOUR_MS ? "1h" : "1d";
  const query = {
    from: from.toISOString(),
    ...(to !== null && { to: to.toISOString() }),
    bucket,
    ...(endpointId !== undefined && { endpoint_id: endpointId }),
  } as const;
  return queryOptions({
    queryKey: ["stats", query],
    queryFn: ({ signal }) => bodyOf(api.GET("/api/stats", { signal, params: { query } })),
    placeholderData: (before) => before,
  });
}

type ChartProps = ChartSpan & {
  /** Called with the part that was dragged over, in whole buckets. */
  onBrush?: (from: Date, to: Date) => void;
  /** In place of the hint at dragging. */
  note?: string | undefined;
  children?: ReactNode;
};

/** Delivered and failed attempts over time, a bar a bucket. */
export function DeliveryChart({ onBrush, note, children, ...span }: ChartProps) {
  const t = useTexts(texts);
  const ui = useTexts(uiTexts);
  const format = useFormat();
  const from = countedFrom(span);
  const { data, error, isPlaceholderData, refetch } = useQuery(statsQuery({ ...span, from }));
  const buckets = data?.buckets ?? [];
  const unread = error === null ? ui.loading : t.unread;
  const sum = (name: "delivered" | "failed"): string =>
    format.number(buckets.reduce((total, bucket) => total + bucket[name], 0));
  return (
    <figure
      aria-busy={isPlaceholderData}
      className={`rounded-xl border border-line bg-surface px-4 pt-3 pb-2 ${isPlaceholderData ? "*:opacity-50" : ""}`}
    >
      <figcaption className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
        {data === undefined ? (
          error === null ? (
            <span className="text-muted">{ui.loading}</span>
          ) : (
            <Unread about={t.unread} error={error} onRetry={() => void refetch()} />
          )
        ) : (
          <>
            <Key mark={<path d="M0 5H10" strokeWidth={10} className="stroke-good-fill" />}>
              {t.delivered(sum("delivered"))}
            </Key>
            <Key mark={<FailedBar x={5} width={10} from={0} to={10} />}>{t.failed(sum("failed"))}</Key>
          </>
        )}
        {from !== span.from && <span className="text-muted">{t.cut}</span>}
        {note !== undefined ? (
          <span className="text-muted">{note}</span>
        ) : (
          onBrush !== undefined &&
          data !== undefined && <span className="hidden text-muted sm:inline print:hidden">{t.hint}</span>
        )}
        <span className="ml-auto">{children}</span>
      </figcaption>
      <Bars
        buckets={buckets}
        bucketMs={BUCKET_MS[data?.bucket ?? "1h"]}
        label={data === undefined ? unread : t.chart(sum("delivered"), sum("failed"))}
        {...(onBrush && { onBrush })}
      />
      <Axis buckets={buckets} bucketMs={BUCKET_MS[data?.bucket ?? "1h"]} />
    </figure>
  );
}

function Key({ mark, children }: { mark: ReactNode; children: ReactNode }) {
  return (
    <span className="tabular flex items-center gap-1.5">
      <svg viewBox="0 0 10 10" aria-hidden className="size-2.5">
        {mark}
      </svg>
      {children}
    </span>
  );
}

/** Striped, so that it is told from what was delivered without its colour. */
function FailedBar({ x, width, from, to }: { x: number; width: number; from: number; to: number }) {
  return (
    <path
      d={`M${x} ${from}V${to}`}
      strokeWidth={width}
      strokeDasharray={FAILED_DASHES}
      className="stroke-bad-fill"
    />
  );
}

type BarsProps = {
  buckets: readonly Bucket[];
  bucketMs: number;
  label: string;
  onBrush?: (from: Date, to: Date) => void;
};

function Bars({ buckets, bucketMs, label, onBrush }: BarsProps) {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const count = Math.max(1, buckets.length);
  const most = Math.max(1, ...buckets.map(({ delivered, failed }) => delivered + failed));
  const placeOf = ({ clientX, currentTarget }: PointerEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
  };
  const finish = (): void => {
    setDrag(null);
    if (drag === null) return;
    const [first, last] = [buckets[Math.min(drag.from, drag.to)], buckets[Math.max(drag.from, drag.to)]];
    if (first === undefined || last === undefined) return;
    onBrush?.(new Date(first.at), new Date(new Date(last.at).getTime() + bucketMs));
  };
  const brush = onBrush && {
    onPointerDown(event: PointerEvent<SVGSVGElement>) {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const place = placeOf(event);
      setDrag({ from: place, to: place });
    },
    onPointerMove: (event: PointerEvent<SVGSVGElement>) =>
      drag !== null && setDrag({ ...drag, to: placeOf(event) }),
    onPointerUp: finish,
    onPointerCancel: () => setDrag(null),
  };
  return (
    <svg
      viewBox={`0 0 ${count} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      className={`block h-16 w-full touch-pan-y ${onBrush === undefined ? "" : "cursor-crosshair"}`}
      {...brush}
    >
      <rect width={count} height={HEIGHT} className="fill-transparent" />
      {buckets.map((bucket, place) => (
        <Bar key={bucket.at} bucket={bucket} place={place} most={most} />
      ))}
      {drag !== null && (
        <rect
          x={Math.min(drag.from, drag.to)}
          width={Math.abs(drag.to - drag.from) + 1}
          height={HEIGHT}
          className="fill-accent opacity-25"
        />
      )}
    </svg>
  );
}

function Bar({
  bucket: { delivered, failed },
  place,
  most,
}: {
  bucket: Bucket;
  place: number;
  most: number;
}) {
  const total = delivered + failed;
  if (total === 0)
    return <rect x={place + 0.1} y={HEIGHT - 1} width={0.8} height={1} className="fill-line" />;
  const height = Math.max(MIN_BAR, (total / most) * HEIGHT);
  const top = HEIGHT - height;
  const bad = failed === 0 ? 0 : Math.max(MIN_BAR, (height * failed) / total);
  return (
    <>
      {delivered > 0 && (
        <rect x={place + 0.1} y={top + bad} width={0.8} height={height - bad} className="fill-good-fill" />
      )}
      {bad > 0 && <FailedBar x={place + 0.5} width={0.8} from={top} to={top + bad} />}
    </>
  );
}

/**
 * A few times below the bars, each where its bar begins; days where they are far
 * enough apart. A bar of a day is a day in UTC: it is named after the day of which
 * it has the most.
 */
function Axis({ buckets, bucketMs }: { buckets: readonly Bucket[]; bucketMs: number }) {
  const format = useFormat();
  const step = Math.max(1, Math.ceil(buckets.length / TICKS));
  const isDaily = step * bucketMs >= DAY_MS;
  const isLong = !isDaily && bucketMs >= HOUR_MS;
  const label = (at: Date): string => {
    if (isDaily) return format.shortDate(bucketMs < DAY_MS ? at : new Date(at.getTime() + bucketMs / 2));
    return bucketMs < HOUR_MS ? format.shortClock(at) : `${format.shortDate(at)}, ${format.shortClock(at)}`;
  };
  return (
    <div aria-hidden className="tabular relative mt-1 h-4 text-xs text-muted">
      {buckets.map(({ at }, place) =>
        place % step === 0 ? (
          <span
            key={at}
            className={`absolute whitespace-nowrap ${isLong && place % (2 * step) > 0 ? "max-sm:hidden" : ""}`}
            style={{ left: `${(place / buckets.length) * 100}%` }}
          >
            {label(new Date(at))}
          </span>
        ) : null,
      )}
    </div>
  );
}
