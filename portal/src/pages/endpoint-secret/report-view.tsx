import { useFormat } from "../../display/format.ts";
import type { Finding, Report, Step, Verdict } from "../../signature/check.ts";
import { useTexts } from "../../texts/texts.ts";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { texts } from "./debugger-texts.ts";
import { findingTexts } from "./finding-texts.ts";

const VERDICT_LOOKS: Record<Verdict, { icon: IconName; look: string }> = {
  right: { icon: "check", look: "bg-good-soft text-good" },
  late: { icon: "clock", look: "bg-wait-soft text-wait" },
  wrong: { icon: "alert", look: "bg-bad-soft text-bad" },
};
const LOOKS: Record<Finding["tone"], { icon: IconName; look: string }> = {
  good: { icon: "check", look: "text-good" },
  bad: { icon: "close", look: "text-bad" },
  wait: { icon: "alert", look: "text-wait" },
  plain: { icon: "info", look: "text-muted" },
};

/** The verdict, and each step with what it found. */
export function ReportView({ report, isAsSent }: { report: Report; isAsSent: boolean }) {
  const t = useTexts(texts);
  const { icon, look } = VERDICT_LOOKS[report.verdict];
  return (
    <>
      <p role="status" className={`flex gap-2.5 rounded-lg px-4 py-3 font-medium ${look}`}>
        <Icon name={icon} className="mt-0.5" />
        {t.verdicts[report.verdict]}
      </p>
      <ol className="mt-4 space-y-4">
        {report.steps
          .filter(({ findings }) => findings.length > 0)
          .map((step) => (
            <StepView key={step.name} step={step} note={step.name === "time" && isAsSent ? t.asSent : null} />
          ))}
      </ol>
    </>
  );
}

function StepView({ step: { name, findings }, note }: { step: Step; note: string | null }) {
  const t = useTexts(texts);
  return (
    <li>
      <h3 className="mb-1 font-semibold">{t.steps[name]}</h3>
      <ul className="space-y-1.5">
        {findings.map((finding, index) => (
          <FindingView key={index} finding={finding} />
        ))}
      </ul>
      {note !== null && <p className="mt-1 pl-6.5 text-sm text-muted">{note}</p>}
    </li>
  );
}

function FindingView({ finding: { code, tone, value = "", header } }: { finding: Finding }) {
  const t = useTexts(texts);
  const found = useTexts(findingTexts);
  const format = useFormat();
  const isSpan = code === "recent" || code === "old" || code === "ahead";
  const { icon, look } = LOOKS[tone];
  return (
    <li className="flex gap-2.5">
      <span className={`mt-0.5 ${look}`}>
        <Icon name={icon} />
        <span className="sr-only">{t.tones[tone]}: </span>
      </span>
      <span className="min-w-0 wrap-anywhere">
        {header !== undefined && (
          <code translate="no" className="mr-1 font-mono text-xs text-muted">
            {header}:
          </code>
        )}
        {found[code](isSpan ? format.span(Number(value)) : value)}
      </span>
    </li>
  );
}
