import { useTexts } from "../texts/texts.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { texts } from "../ui/texts.ts";

export type DeliveryStatus = "pending" | "delivered" | "failed" | "test";

const LOOKS: Record<DeliveryStatus, { tone: Tone; icon: IconName; color: string }> = {
  delivered: { tone: "good", icon: "check", color: "text-good" },
  failed: { tone: "bad", icon: "close", color: "text-bad" },
  pending: { tone: "wait", icon: "clock", color: "text-wait" },
  test: { tone: "accent", icon: "test", color: "text-accent" },
};

export function StatusBadge({ status }: { status: DeliveryStatus }) {
  const t = useTexts(texts);
  const { tone, icon } = LOOKS[status];
  return (
    <Badge tone={tone} icon={icon}>
      {t[status]}
    </Badge>
  );
}

/** For rows: the icon alone, with its word for those who do not see it. */
export function StatusIcon({ status }: { status: DeliveryStatus }) {
  const t = useTexts(texts);
  const { icon, color } = LOOKS[status];
  return (
    <span className={color} title={t[status]}>
      <Icon name={icon} />
      <span className="sr-only">{t[status]}</span>
    </span>
  );
}
