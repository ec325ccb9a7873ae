import { useFormat } from "../display/format.ts";
import { useTexts } from "../texts/texts.ts";
import { texts } from "./texts.ts";

type Bucket = { at: string; delivered: number; failed: number };
const WIDTH = 96;
const HEIGHT = 24;
const GAP = 1;
/** Of what is not nothing. */
const MIN_BAR = 1.5;

/** Bars of delivered and failed attempts. Heights follow the square root, so that quiet hours can still be seen. */
export function Sparkline({ series, className = "" }: { series: readonly Bucket[]; className?: string }) {
  const t = useTexts(texts);
  const format = useFormat();
  const most = Math.max(1, ...series.map(({ delivered, failed }) => delivered + failed));
  const sum = (name: "delivered" | "failed"): number =>
    series.reduce((total, bucket) => total + bucket[name], 0);
  const width = WIDTH / Math.max(1, series.length);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={t.sparkline(format.number(sum("delivered")), format.number(sum("failed")))}
      className={`h-6 w-24 ${className}`}
    >
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} className="stroke-line" strokeWidth="1" />
      {series.map(({ at, delivered, failed }, place) => {
        const total = delivered + failed;
        if (total === 0) return null;
        const height = Math.max(MIN_BAR, Math.sqrt(total / most) * (HEIGHT - 1));
        const bad = failed === 0 ? 0 : Math.max(MIN_BAR, (height * failed) / total);
        const x = place * width + GAP / 2;
        return (
          <g key={at}>
            <rect x={x} y={HEIGHT - height} width={width - GAP} height={height} className="fill-good-fill" />
            {bad > 0 && (
              <rect x={x} y={HEIGHT - height} width={width - GAP} height={bad} className="fill-bad-fill" />
            )}
          </g>
        );
      })}
    </svg>
  );
}
