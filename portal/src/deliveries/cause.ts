/** Why an attempt failed: the code of the log, and words for it. */
import { useTexts } from "../texts/texts.ts";
import { texts } from "./causes-texts.ts";

type Outcome = { status: string; error: string | null; response_status: number | null };

/** As `GET /api/stats/causes` names it; null for what did not fail. */
export function causeOf({ status, error, response_status: answered }: Outcome): string | null {
  if (error !== null) return error;
  return status === "failed" && answered !== null ? `http_${answered}` : null;
}

export function useCauseTexts() {
  const t = useTexts(texts);
  return {
    /** One sentence. */
    title: (cause: string): string => textOf(t.title, cause),
    /** What to do. */
    advice: (cause: string): string => textOf(t.advice, cause),
    /** For a column: a status as it is. */
    short: (cause: string): string => named(t.short, cause) ?? cause.replace(/^http_/, ""),
  };
}

/** Of the cause itself, of its class, or of any. */
export function textOf(texts: Texts, cause: string): string {
  const ofClass = /^http_[345]/.test(cause) ? `${cause.slice(0, "http_4".length)}xx` : cause;
  return named(texts, cause) ?? named(texts, ofClass) ?? named(texts, "other") ?? cause;
}

type Texts = { readonly [name: string]: string };

function named(texts: Texts, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}
