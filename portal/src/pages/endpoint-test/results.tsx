import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { causeOf, useCauseTexts } from "../../deliveries/cause.ts";
import { MessageView } from "../../deliveries/message-view.tsx";
import { useFormat } from "../../display/format.ts";
import { useTexts } from "../../texts/texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { texts } from "./texts.ts";
import type { Tested } from "./use-tests.ts";

const KEPT_CHARACTERS = 1000;

/** The tests of this visit, the newest first; one of them with its answer. */
export function Results({ tested }: { tested: readonly Tested[] }) {
  const t = useTexts(texts);
  const id = useId();
  const [chosen, setChosen] = useState<Tested | null>(null);
  const [newestSeen, setNewestSeen] = useState<Tested | undefined>(undefined);
  // A new answer takes the place of an older one that was looked at.
  if (tested[0] !== newestSeen) {
    setNewestSeen(tested[0]);
    setChosen(null);
  }
  const shown = chosen ?? tested[0];
  return (
    <section aria-labelledby={id} className="min-w-0 rounded-xl border border-line bg-surface p-4 sm:p-5">
      <h2 id={id} className="text-lg font-semibold">
        {t.answer}
      </h2>
      <div role="status">
        {shown === undefined ? <p className="mt-2 text-muted">{t.noAnswer}</p> : <Answer tested={shown} />}
      </div>
      {tested.length > 1 && (
        <>
          <h3 className="mt-6 mb-2 font-semibold">{t.history}</h3>
          <ul className="divide-y divide-line rounded-lg border border-line">
            {tested.map((one) => (
              <li key={one.at.getTime()}>
                <Row tested={one} isShown={one === shown} onChoose={() => setChosen(one)} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

type RowProps = { tested: Tested; isShown: boolean; onChoose: () => void };

function Row({ tested, isShown, onChoose }: RowProps) {
  const format = useFormat();
  return (
    <button
      type="button"
      aria-pressed={isShown}
      onClick={onChoose}
      className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-left -outline-offset-2 hover:bg-hover aria-pressed:bg-accent-soft"
    >
      <Outcome tested={tested} />
      <code translate="no" className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">
        {tested.eventType}
      </code>
      <span className="tabular text-sm text-muted">{format.milliseconds(tested.answer.latency_ms)}</span>
      <span className="tabular text-sm text-muted">{format.clock(tested.at)}</span>
    </button>
  );
}

/** A test with any answer has the status `test`; a receiver accepts by 2xx alone. */
function isAccepted({ response_status: status }: Tested["answer"]): boolean {
  return status !== null && status >= 200 && status < 300;
}

function Outcome({ tested: { answer } }: { tested: Tested }) {
  const t = useTexts(texts);
  const isGood = isAccepted(answer);
  return (
    <Badge tone={isGood ? "good" : "bad"} icon={isGood ? "check" : "close"}>
      {isGood ? t.good : t.failed}
      {answer.response_status !== null && ` ${answer.response_status}`}
    </Badge>
  );
}

function Answer({ tested }: { tested: Tested }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { answer, delivery } = tested;
  const isCut = (answer.response_body?.length ?? 0) >= KEPT_CHARACTERS;
  return (
    <>
      <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1">
        <Outcome tested={tested} />
        <span className="tabular">{format.milliseconds(answer.latency_ms)}</span>
        <code translate="no" className="min-w-0 font-mono text-xs wrap-anywhere text-muted">
          {tested.eventType}
        </code>
        {delivery !== null && (
          <Link
            to="/log"
            search={{ endpoint: delivery.endpoint_id, d: delivery.id }}
            className="text-accent hover:underline"
          >
            {t.inLog}
          </Link>
        )}
      </div>
      {!isAccepted(answer) && <Why tested={tested} />}
      <MessageView
        title={t.response}
        headers={delivery?.response_headers ?? null}
        body={answer.response_body}
        absent={answer.response_status === null ? t.noResponse : null}
        note={isCut ? t.cut : null}
      />
      {delivery !== null && (
        <MessageView
          title={t.request}
          headers={delivery.request_headers}
          body={delivery.request_body}
          absent={delivery.request_headers === null ? t.notSent : null}
        />
      )}
    </>
  );
}

function Why({ tested: { answer, delivery } }: { tested: Tested }) {
  const { title, advice } = useCauseTexts();
  const { response_status } = answer;
  const cause = causeOf({ status: "failed", response_status, error: delivery?.error ?? null });
  if (cause === null) return null;
  return (
    <div className="mt-3 flex gap-3 rounded-lg bg-bad-soft px-4 py-3">
      <Icon name="alert" className="mt-0.5 text-bad" />
      <div>
        <p className="font-medium text-bad">{title(cause)}</p>
        <p className="text-sm">{advice(cause)}</p>
      </div>
    </div>
  );
}
