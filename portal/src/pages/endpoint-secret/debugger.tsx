import { useMutation, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useId, useState } from "react";
import { api, asApiError, bodyOf, type Schemas } from "../../api/client.ts";
import { check, type Report, type Request } from "../../signature/check.ts";
import { readCurl } from "../../signature/curl.ts";
import { useTexts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Field, INPUT } from "../../ui/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Failed, Loading, useErrorText } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { texts } from "./debugger-texts.ts";
import { ReportView } from "./report-view.tsx";

type DebuggerProps = {
  endpointId: string;
  /** A delivery whose request is filled in. */
  deliveryId: string | undefined;
  onDelivery: (id: string) => void;
};

/** Checks a signature by hand. What is pasted stays in this page: the browser does the sums. */
export function Debugger({ endpointId, deliveryId, onDelivery }: DebuggerProps) {
  const t = useTexts(texts);
  const newest = useNewest(endpointId, onDelivery);
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <p className="flex min-w-0 flex-1 basis-80 gap-2.5 text-muted">
          <Icon name="audit" className="mt-0.5" />
          {t.about}
        </p>
        <Button icon="log" isBusy={newest.isPending} onClick={() => newest.mutate()}>
          {t.takeNewest}
        </Button>
      </div>
      {deliveryId === undefined ? <DebuggerForm sent={null} /> : <FromLog key={deliveryId} id={deliveryId} />}
    </>
  );
}

function useNewest(endpointId: string, onDelivery: (id: string) => void) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  return useMutation({
    async mutationFn() {
      const query = { endpoint_id: [endpointId], limit: 20 };
      const { deliveries } = await bodyOf(api.GET("/api/deliveries", { params: { query } }));
      return deliveries.find(({ sent_at: sentAt }) => sentAt !== null)?.id;
    },
    onSuccess: (id) => (id === undefined ? toast({ title: t.noneSent, isBad: true }) : onDelivery(id)),
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
  });
}

function FromLog({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["delivery", id],
    queryFn: ({ signal }) =>
      bodyOf(api.GET("/api/deliveries/{did}", { signal, params: { path: { did: id } } })),
  });
  if (data !== undefined) return <DebuggerForm sent={data.delivery} />;
  return error === null ? <Loading /> : <Failed error={error} onRetry={() => void refetch()} />;
}

function isOwn([name]: [string, string]): boolean {
  return /^(?:webhook-|x-service-)/i.test(name);
}

/** As lines, those of the signatures first. */
function headersOf(sent: Schemas["Delivery"] | null): string {
  const headers = Object.entries(sent?.request_headers ?? {});
  return [...headers.filter(isOwn), ...headers.filter((one) => !isOwn(one))]
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

function DebuggerForm({ sent }: { sent: Schemas["Delivery"] | null }) {
  const t = useTexts(texts);
  const [request, setRequest] = useState<Request>(() => ({
    headers: headersOf(sent),
    body: sent?.request_body ?? "",
    secret: "",
  }));
  const set = (change: Partial<Request>): void => setRequest({ ...request, ...change });
  // A request of the log was not late when it was sent.
  const sentAt = request.headers === headersOf(sent) ? (sent?.sent_at ?? null) : null;
  const report = useReport(request, sentAt);
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <div className="space-y-4">
        <Field label={t.headers} about={t.headersAbout}>
          {(wiring) => (
            <Area {...wiring} rows={7} value={request.headers} onChange={(text) => set(givenBy(text))} />
          )}
        </Field>
        <Field label={t.body} about={t.bodyAbout}>
          {(wiring) => <Area {...wiring} rows={7} value={request.body} onChange={(body) => set({ body })} />}
        </Field>
        <Field label={t.secret} about={t.secretAbout}>
          {(wiring) => (
            <input
              {...wiring}
              autoComplete="off"
              spellCheck={false}
              value={request.secret}
              onChange={({ target }) => set({ secret: target.value })}
              className={`${INPUT} font-mono text-sm`}
            />
          )}
        </Field>
      </div>
      <Result report={report} isAsSent={sentAt !== null} />
    </div>
  );
}

/** A command of curl has the body too. */
function givenBy(text: string): Partial<Request> {
  const command = readCurl(text);
  if (command === null) return { headers: text };
  const { headers, body } = command;
  return { headers, ...(body !== null && { body }) };
}

type AreaProps = { id: string; rows: number; value: string; onChange: (value: string) => void };

function Area({ onChange, ...rest }: AreaProps) {
  return (
    <textarea
      {...rest}
      spellCheck={false}
      autoComplete="off"
      onChange={({ target }) => onChange(target.value)}
      className={`${INPUT} h-auto py-2 font-mono text-xs [unicode-bidi:plaintext]`}
    />
  );
}

type Judged = Report | "empty" | "insecure";

function useReport(request: Request, sentAt: string | null): Judged {
  const [report, setReport] = useState<Judged>("empty");
  const latest = useDeferredValue(request);
  const isFilled = latest.headers.trim() !== "" && latest.secret !== "";
  useEffect(() => {
    if (!isFilled) return setReport("empty");
    // Browsers have their cryptography on secure origins alone.
    if (!isSecureContext) return setReport("insecure");
    let isCurrent = true;
    const judge = async (): Promise<void> => {
      const next = await check(latest, sentAt === null ? new Date() : new Date(sentAt));
      if (isCurrent) setReport(next);
    };
    void judge();
    return () => {
      isCurrent = false;
    };
  }, [latest, sentAt, isFilled]);
  return report;
}

function Result({ report, isAsSent }: { report: Judged; isAsSent: boolean }) {
  const t = useTexts(texts);
  const id = useId();
  return (
    <section aria-labelledby={id} className="rounded-xl border border-line bg-surface p-4 sm:p-5">
      <h2 id={id} className="mb-3 text-lg font-semibold">
        {t.result}
      </h2>
      {report === "empty" && <p className="text-muted">{t.empty}</p>}
      {report === "insecure" && <p className="text-bad">{t.insecure}</p>}
      {typeof report === "object" && <ReportView report={report} isAsSent={isAsSent} />}
    </section>
  );
}
