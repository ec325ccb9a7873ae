import { useQuery } from "@tanstack/react-query";
import { api, bodyOf, type Schemas } from "../api/client.ts";
import { useTexts } from "../texts/texts.ts";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { texts } from "./endpoint-form-texts.ts";
import { useSettled } from "../ui/use-settled.ts";

const PAUSE_MS = 500;

/** Says while one types whether the service would take the URL. Nothing is sent to it. */
export function UrlCheck({ url, isUnchanged }: { url: string; isUnchanged: boolean }) {
  const t = useTexts(texts);
  const settled = useSettled(url.trim(), PAUSE_MS);
  const isWhole = URL.canParse(settled) && /^https?:\/\/[^/]/.test(settled);
  const check = useQuery({
    queryKey: ["url-check", settled],
    queryFn: ({ signal }) => bodyOf(api.POST("/api/url-checks", { signal, body: { url: settled } })),
    enabled: isWhole && !isUnchanged,
    staleTime: 60_000,
    retry: false,
  });
  if (isUnchanged || url.trim() === "" || check.isError) return t.urlAbout;
  if (settled !== url.trim() || (isWhole && check.data === undefined)) {
    return (
      <span className="flex items-center gap-1.5">
        <Spinner className="size-3.5" />
        {t.checking}
      </span>
    );
  }
  if (check.data === undefined) return <Verdict isGood={false}>{t.urlBroken}</Verdict>;
  return <Judged check={check.data} />;
}

function Judged({ check }: { check: Schemas["CheckUrlAnswer"] }) {
  const t = useTexts(texts);
  if (!check.ok) return <Verdict isGood={false}>{ruleText(t.urlRules, check.rule)}</Verdict>;
  return check.resolves === false ? (
    <span className="flex items-center gap-1.5 text-wait">
      <Icon name="alert" />
      {t.urlNoName}
    </span>
  ) : (
    <Verdict isGood>{t.urlGood}</Verdict>
  );
}

function Verdict({ isGood, children }: { isGood: boolean; children: string }) {
  return (
    <span className={`flex items-center gap-1.5 ${isGood ? "text-good" : "text-bad"}`}>
      <Icon name={isGood ? "check" : "alert"} />
      {children}
    </span>
  );
}

/** The service names the rule; those that people can do something about have words of their own. */
function ruleText(rules: { readonly [name: string]: string }, rule: string | undefined): string {
  return rules[rule ?? ""] ?? `${rules["other"] ?? ""} (${rule ?? ""})`;
}
