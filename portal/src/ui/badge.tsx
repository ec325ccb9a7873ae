import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

const TONES = {
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
  wait: "bg-wait-soft text-wait",
  plain: "bg-sunken text-muted",
  accent: "bg-accent-soft text-accent-strong",
} as const;

export type Tone = keyof typeof TONES;

export function Badge({ tone, icon, children }: { tone: Tone; icon?: IconName; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-px text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {icon !== undefined && <Icon name={icon} className="size-3" />}
      {children}
    </span>
  );
}
