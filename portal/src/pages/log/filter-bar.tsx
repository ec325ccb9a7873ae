import { useQuery } from "@tanstack/react-query";
import { useRef, useState, type FormEvent } from "react";
import { api, bodyOf } from "../../api/client.ts";
import { endpointsQuery, typeNamesQuery } from "../../api/queries.ts";
import { useCauseTexts } from "../../deliveries/cause.ts";
import { countedFrom } from "../../deliveries/counted-span.ts";
import { choicesOf, useUnknownName } from "../../endpoints/endpoint-names.ts";
import { useFormat } from "../../display/format.ts";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { SearchInput } from "../../ui/field.tsx";
import { focusTitle } from "../../ui/focus.ts";
import { Select } from "../../ui/select.tsx";
import { texts as statusTexts } from "../../ui/texts.ts";
import { changeFor, hasFilter, NO_FILTER, type Change, type LogSearch, type Span } from "./log-search.ts";
import { texts } from "./texts.ts";
import { OwnTime, TimeChoice } from "./time-choice.tsx";

type BarProps = { search: LogSearch; span: Span; onChange: Change };

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const STATUSES = ["delivered", "failed", "pending", "test"] as const;
const CLASSES = ["http_2xx", "http_3xx", "http_4xx", "http_5xx"];
const ERRORS = ["timeout", "connect", "dns", "tls", "reset", "blocked_target"];

export function FilterBar({ search, span, onChange }: BarProps) {
  const t = useTexts(texts);
  const own = useTexts(statusTexts);
  return (
    <div className="grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      <TimeChoice search={search} span={span} onChange={onChange} />
      <EndpointChoice search={search} onChange={onChange} />
      <Select
        label={t.status}
        value={search.status ?? ""}
        onChange={(value) => onChange({ status: given(value) })}
      >
        <option value="">{t.anyStatus}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {own[status]}
          </option>
        ))}
      </Select>
      <CauseChoice search={search} span={span} onChange={onChange} />
      <TypeChoice search={search} onChange={onChange} />
      <TextSearch key={search.q ?? search.event ?? ""} search={search} span={span} onChange={onChange} />
      {(hasFilter(search) || search.endpoint !== undefined) && (
        <Button
          kind="quiet"
          icon="close"
          className="max-sm:col-span-2 max-sm:justify-self-start"
          onClick={() => {
            focusTitle();
            onChange(NO_FILTER);
          }}
        >
          {t.clear}
        </Button>
      )}
      {search.from !== undefined && <OwnTime span={span} onChange={onChange} />}
    </div>
  );
}

function EndpointChoice({ search, onChange }: Omit<BarProps, "span">) {
  const t = useTexts(texts);
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const unknownName = useUnknownName(t.unknownEndpoint);
  const { endpoint } = search;
  const isKnown = endpoint === undefined || endpoints.some(({ id }) => id === endpoint);
  return (
    <Select
      label={t.endpoint}
      value={endpoint ?? ""}
      onChange={(value) => onChange({ endpoint: given(value) })}
    >
      <option value="">{t.allEndpoints}</option>
      {!isKnown && <option value={endpoint}>{unknownName(endpoint)}</option>}
      {choicesOf(endpoints).map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}

/** Classes of answers, errors, and the causes that there were in this time. */
function CauseChoice({ search, span, onChange }: BarProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const { short } = useCauseTexts();
  const query = {
    from: countedFrom(span).toISOString(),
    ...(span.to !== null && { to: span.to.toISOString() }),
    ...(search.endpoint !== undefined && { endpoint_id: search.endpoint }),
  };
  const { data } = useQuery({
    queryKey: ["stats", "causes", query],
    queryFn: ({ signal }) => bodyOf(api.GET("/api/stats/causes", { signal, params: { query } })),
  });
  const found = data?.causes ?? [];
  const counts = new Map(found.map(({ cause, count }) => [cause, count]));
  const known = [...CLASSES, "http_none", ...ERRORS];
  const others = [...found.map(({ cause }) => cause), ...(search.cause === undefined ? [] : [search.cause])];
  const causes = [...new Set([...known, ...others])];
  const label = (cause: string): string => {
    const name = cause === "http_none" ? t.noAnswer : short(cause);
    const count = counts.get(cause);
    return count === undefined ? name : `${name} (${format.number(count)})`;
  };
  return (
    <Select
      label={t.cause}
      value={search.cause ?? ""}
      onChange={(value) => onChange({ cause: given(value) })}
    >
      <option value="">{t.anyCause}</option>
      {causes.map((cause) => (
        <option key={cause} value={cause}>
          {label(cause)}
        </option>
      ))}
    </Select>
  );
}

function TypeChoice({ search, onChange }: Omit<BarProps, "span">) {
  const t = useTexts(texts);
  const { data: types = [] } = useQuery(typeNamesQuery);
  const groups = Map.groupBy(types, ({ group }) => group);
  const isKnown = search.type === undefined || types.some(({ type }) => type === search.type);
  return (
    <Select label={t.type} value={search.type ?? ""} onChange={(value) => onChange({ type: given(value) })}>
      <option value="">{t.anyType}</option>
      {!isKnown && <option value={search.type}>{search.type}</option>}
      {[...groups].map(([group, members]) => (
        <optgroup key={group} label={group}>
          {members.map(({ type }) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </optgroup>
      ))}
    </Select>
  );
}

/** A text of bodies, or an id: what it is the id of, the service knows. */
function TextSearch({ search, span, onChange }: BarProps) {
  const t = useTexts(texts);
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(search.q ?? search.event ?? "");
  useShortcuts([{ key: "f", about: t.focusSearch, run: () => input.current?.focus() }]);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === "") return onChange({ q: undefined, event: undefined });
    if (!ID.test(wanted)) return onChange({ q: wanted, event: undefined });
    const id = wanted.toLowerCase();
    const hits = await bodyOf(api.GET("/api/search", { params: { query: { q: id } } })).catch(() => []);
    onChange(changeFor(id, hits, span, new Date()));
  };
  return (
    <form
      role="search"
      onSubmit={(event) => void submit(event)}
      className="col-span-2 min-w-0 flex-1 basis-64"
    >
      <SearchInput
        ref={input}
        label={t.search}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </form>
  );
}

function given(value: string): string | undefined {
  return value === "" ? undefined : value;
}
