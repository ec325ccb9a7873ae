import type { Endpoint } from "../api/client.ts";
import { useTexts } from "../texts/texts.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import type { IconName } from "../ui/icon.tsx";
import type { EndpointState } from "./endpoint-state.ts";
import { texts } from "./texts.ts";

const LOOKS: Record<EndpointState, { tone: Tone; icon: IconName }> = {
  active: { tone: "good", icon: "check" },
  failing: { tone: "bad", icon: "alert" },
  quiet: { tone: "plain", icon: "clock" },
  manual: { tone: "plain", icon: "pause" },
  gone: { tone: "bad", icon: "pause" },
  disabled: { tone: "bad", icon: "pause" },
};

export function StateBadge({ state }: { state: EndpointState }) {
  const t = useTexts(texts);
  return (
    <span title={t.reason[state]} className="inline-flex">
      <Badge {...LOOKS[state]}>{t.state[state]}</Badge>
    </span>
  );
}

/** How an endpoint gets its events, where it is not the usual way. */
export function ModeBadges({ endpoint: { mode, temporary } }: { endpoint: Endpoint }) {
  const t = useTexts(texts);
  return (
    <>
      {mode === "pull" && (
        <span title={t.pullAbout} className="inline-flex">
          <Badge tone="accent">{t.pull}</Badge>
        </span>
      )}
      {temporary && <Badge tone="plain">{t.temporary}</Badge>}
    </>
  );
}
