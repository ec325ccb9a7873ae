import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { asApiError } from "../api/client.ts";
import { useTexts } from "../texts/texts.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { useErrorText } from "../ui/states.tsx";
import { texts } from "./texts.ts";
import type { Group, Hit } from "./hits.ts";
import { useHits } from "./use-hits.ts";

const MAX_LENGTH = 256;
const ICONS: Record<Group["kind"], IconName> = {
  page: "menu",
  endpoint: "endpoints",
  delivery: "log",
  event: "send",
  event_type: "catalog",
};

/** Finds anything of the tenant, and every page: typed, chosen by arrows, opened by Enter. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const [q, setQ] = useState("");
  const { groups, error, isBusy } = useHits(q);
  const hits = groups.flatMap((group) => group.hits);
  const [chosen, setChosen] = useState(0);
  const place = Math.min(chosen, Math.max(0, hits.length - 1));
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  // What was opened has the focus then, not what had it before.
  const hasLeft = useRef(false);
  const open = (hit: Hit): void => {
    hasLeft.current = true;
    onClose();
    hit.open(navigate);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const hit = hits[place];
    if (step !== undefined && hits.length > 0) setChosen((place + step + hits.length) % hits.length);
    else if (event.key === "Enter" && hit !== undefined && (!isBusy || hit.kind === "page")) open(hit);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-dim" />
        <Dialog.Popup
          aria-label={t.title}
          initialFocus={input}
          finalFocus={() => !hasLeft.current}
          className="fixed top-[12dvh] left-1/2 z-40 flex max-h-[76dvh] w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-xl border border-line bg-raised shadow-raised outline-none"
        >
          <div className="flex items-center gap-2.5 border-b border-line px-4">
            {isBusy ? <Spinner /> : <Icon name="search" className="text-muted" />}
            <input
              ref={input}
              role="combobox"
              aria-label={t.label}
              aria-expanded={hits.length > 0}
              aria-controls={list}
              aria-autocomplete="list"
              aria-activedescendant={hits.length > 0 ? `${list}-${place}` : undefined}
              placeholder={t.hint}
              maxLength={MAX_LENGTH}
              autoComplete="off"
              spellCheck={false}
              value={q}
              onChange={({ target }) => {
                setQ(target.value);
                setChosen(0);
              }}
              onKeyDown={onKey}
              className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-base"
            />
          </div>
          <Results
            list={list}
            groups={groups}
            place={place}
            onOpen={open}
            onPoint={(hit) => setChosen(hits.indexOf(hit))}
          />
          <Note q={q.trim()} error={error} isEmpty={hits.length === 0 && !isBusy} />
          <p className="border-t border-line bg-sunken px-4 py-2 text-xs text-muted">{t.keys}</p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type ResultsProps = {
  list: string;
  groups: readonly Group[];
  place: number;
  onOpen: (hit: Hit) => void;
  onPoint: (hit: Hit) => void;
};

function Results({ list, groups, place, onOpen, onPoint }: ResultsProps) {
  const t = useTexts(texts);
  const hits = groups.flatMap((group) => group.hits);
  useEffect(() => {
    document.querySelector(`[id="${list}-${place}"]`)?.scrollIntoView({ block: "nearest" });
  }, [list, place]);
  return (
    <div id={list} role="listbox" aria-label={t.results} className="overflow-y-auto p-2 empty:hidden">
      {groups.map(({ kind, hits: own }) => (
        <div key={kind} role="group" aria-label={t.kinds[kind]} className="mb-1 last:mb-0">
          <p aria-hidden className="px-2.5 pt-1.5 pb-1 text-xs font-medium text-muted">
            {t.kinds[kind]}
          </p>
          {own.map((hit) => {
            const index = hits.indexOf(hit);
            return (
              <div
                key={index}
                id={`${list}-${index}`}
                role="option"
                aria-selected={index === place}
                onClick={() => onOpen(hit)}
                onMouseMove={() => index !== place && onPoint(hit)}
                className="flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 aria-selected:bg-accent-soft"
              >
                <Icon name={ICONS[kind]} className="text-muted" />
                <span
                  className={`truncate ${hit.about === undefined ? "" : "max-w-3/5 shrink-0"}`}
                  {...(kind !== "page" && { translate: "no" })}
                >
                  {hit.label}
                </span>
                {hit.about !== undefined && <span className="truncate text-muted">{hit.about}</span>}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

function Note({ q, error, isEmpty }: { q: string; error: unknown; isEmpty: boolean }) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  return (
    <div role="status" className="text-muted">
      {error !== null && <p className="px-4 py-3 text-bad">{errorText(asApiError(error)).about}</p>}
      {error === null && isEmpty && q !== "" && (
        <div className="px-4 py-6 text-center">
          <p className="font-medium wrap-anywhere text-ink">{t.none(q)}</p>
          <p className="mt-1 text-sm text-pretty">{t.noneAbout}</p>
        </div>
      )}
    </div>
  );
}
