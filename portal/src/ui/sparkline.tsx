import { useFormat } from "../display/format.ts";
import { useTexts } from "../texts/texts.ts";
import { texts } from "./texts.ts";

type Bucket = { at: string; delivered: number; failed: number };
const WIDTH = 96;
const HEIGHT = 24;
const GAP = 1;
/** Of what is not nothing. */
const MIN_BAR = 1.5;

/** Of a line that is a failed bar: stripes, which are seen without their colour too. */
export const FAILED_DASHES = "2.5 1.5";

/** Bars of delivered and failed attempts. Heights follow the square root, so that quiet hours can still be seen. */
export function Sparkline({ series, className = "" }: { series: readonly Bucket[]; className?: string }) {
  const t = useTexts(texts);
  const format = useFormat();
  const sum = (name: "delivered" | "failed"): number =>
    series.reduce((total, bucket) => total + bucket[name], 0);
  const { good, bad } = barsOf(series);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={t.sparkline(format.number(sum("delivered")), format.number(sum("failed")))}
      className={`h-6 w-24 ${className}`}
    >
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} className="stroke-line" strokeWidth="1" />
      <path d={good} className="fill-good-fill" />
      <path
        d={bad}
        strokeWidth={WIDTH / Math.max(1, series.length) - GAP}
        strokeDasharray={FAILED_DASHES}
        className="stroke-bad-fill"
      />
    </svg>
  );
}

/** All bars of a colour as one shape: a list has a sparkline in each row. */
function barsOf(series: readonly Bucket[]): { good: string; bad: string } {
  const most = Math.max(1, ...series.map(({ delivered, failed }) => delivered + failed));
  const width = WIDTH / Math.max(1, series.length);
  const shapes = { good: "", bad: "" };
  for (const [place, { delivered, failed }] of series.entries()) {
    const total = delivered + failed;
    if (total === 0) continue;
    const height = Math.max(MIN_BAR, Math.sqrt(total / most) * (HEIGHT - 1));
    const bad = failed === 0 ? 0 : Math.max(MIN_BAR, (height * failed) / total);
    const top = HEIGHT - height;
    if (delivered > 0)
      shapes.good += `M${place * width + GAP / 2} ${top + bad}h${width - GAP}V${HEIGHT}h${GAP - width}z`;
    if (bad > 0) shapes.bad += `M${(place + 0.5) * width} ${top}v${bad}`;
  }
  return shapes;
}
