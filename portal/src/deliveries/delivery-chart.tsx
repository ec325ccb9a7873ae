import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState, type PointerEvent, type ReactNode } from "react";
import { api, bodyOf, type Schemas } from "../api/client.ts";
import { useFormat } from "../display/format.ts";
import { useTexts } from "../texts/texts.ts";
import { defineTexts } from "../texts/texts.ts";

const texts = defineTexts({
  en: {
    chart: (delivered: string, failed: string) => `${delivered} delivered and ${failed} failed in this time`,
    delivered: (count: string) => `${count} delivered`,
    failed: (count: string) => `${count} failed`,
    hint: "Drag over a part to look at it alone.",
  },
  de: {
    chart: (delivered: string, failed: string) =>
      `${delivered} zugestellt und ${failed} fehlgeschlagen in dieser Zeit`,
    delivered: (count: string) => `${count} zugestellt`,
    failed: (count: string) => `${count} fehlgeschlagen`,
    hint: "Ziehen Sie über einen Teil, um nur ihn zu sehen.",
  },
});

const HOUR_MS = 3_600_000;
const BUCKET_MS = { "10m": 600_000, "1h": HOUR_MS, "1d": 24 * HOUR_MS } as const;
const HEIGHT = 64;
const MIN_BAR = 1.5;
const TICKS = 4;

type ChartSpan = { from: Date; to: Date | null; endpointId?: string | undefined };
type Bucket = Schemas["GetStatsAnswer"]["buckets"][number];

export function statsQuery({ from, to, endpointId }: ChartSpan) {
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
  const format = useFormat();
  const { data } = useQuery(statsQuery(span));
  const buckets = data?.buckets ?? [];
  const sum = (name: "delivered" | "failed"): string =>
    format.number(buckets.reduce((total, bucket) => total + bucket[name], 0));
  return (
    <figure className="rounded-xl border border-line bg-surface px-4 pt-3 pb-2">
      <figcaption className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
        <Key color="bg-good-fill">{t.delivered(sum("delivered"))}</Key>
        <Key color="bg-bad-fill">{t.failed(sum("failed"))}</Key>
        {note !== undefined ? (
          <span className="text-muted">{note}</span>
        ) : (
          onBrush !== undefined && <span className="hidden text-muted sm:inline">{t.hint}</span>
        )}
        <span className="ml-auto">{children}</span>
      </figcaption>
      <Bars
        buckets={buckets}
        bucketMs={BUCKET_MS[data?.bucket ?? "1h"]}
        label={t.chart(sum("delivered"), sum("failed"))}
        {...(onBrush && { onBrush })}
      />
      <Axis buckets={buckets} bucketMs={BUCKET_MS[data?.bucket ?? "1h"]} />
    </figure>
  );
}

function Key({ color, children }: { color: string; children: ReactNode }) {
  return (
    <span className="tabular flex items-center gap-1.5">
      <span aria-hidden className={`size-2.5 rounded-xs ${color}`} />
      {children}
    </span>
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
  const bad = failed === 0 ? 0 : Math.max(MIN_BAR, (height * failed) / total);
  return (
    <>
      <rect x={place + 0.1} y={HEIGHT - height} width={0.8} height={height} className="fill-good-fill" />
      {bad > 0 && (
        <rect x={place + 0.1} y={HEIGHT - height} width={0.8} height={bad} className="fill-bad-fill" />
      )}
    </>
  );
}

/** A few times below the bars, each where its bar begins; days where they are far enough apart. */
function Axis({ buckets, bucketMs }: { buckets: readonly Bucket[]; bucketMs: number }) {
  const format = useFormat();
  const step = Math.max(1, Math.ceil(buckets.length / TICKS));
  const isDaily = step * bucketMs >= 24 * HOUR_MS;
  const label = (at: Date): string => {
    if (isDaily) return format.shortDate(at);
    return bucketMs < HOUR_MS ? format.shortClock(at) : `${format.shortDate(at)}, ${format.shortClock(at)}`;
  };
  return (
    <div aria-hidden className="tabular relative mt-1 h-4 text-xs text-muted">
      {buckets.map(({ at }, place) =>
        place % step === 0 ? (
          <span
            key={at}
            className="absolute whitespace-nowrap"
            style={{ left: `${(place / buckets.length) * 100}%` }}
          >
            {label(new Date(at))}
          </span>
        ) : null,
      )}
    </div>
  );
}
