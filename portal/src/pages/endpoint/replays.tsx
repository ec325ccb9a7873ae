import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type RefObject } from "react";
import { api, asApiError, bodyOf, type Schemas } from "../../api/client.ts";
import { useFormat } from "../../display/format.ts";
import { usePermissions } from "../../session/permissions.ts";
import { useTexts } from "../../texts/texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { AskDialog } from "../../ui/dialog.tsx";
import { Failed, useErrorText } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { texts } from "./replay-texts.ts";

type Replay = Schemas["Replay"];

const TONES: Record<Replay["status"], Tone> = {
  running: "accent",
  finished: "good",
  canceled: "plain",
  failed: "bad",
};
/** While a replay runs, a person watches it. */
const WATCH_MS = 1500;
const MAX_SHOWN = 5;

type ReplaysProps = {
  endpointId: string;
  /** The replay that was started here: it is shown, and has the focus. */
  started: string | null;
  onNew: () => void;
};

export function Replays({ endpointId, started, onNew }: ReplaysProps) {
  const t = useTexts(texts);
  const heading = useId();
  const { mayWrite } = usePermissions();
  const { data, error, refetch } = useQuery({
    queryKey: ["replays", endpointId],
    queryFn: ({ signal }) => {
      const query = { endpoint_id: endpointId, limit: MAX_SHOWN };
      return bodyOf(api.GET("/api/replays", { signal, params: { query } }));
    },
    refetchInterval: ({ state }) =>
      state.data?.replays.some(({ status }) => status === "running") === true ? WATCH_MS : false,
  });
  const own = data?.replays ?? [];
  useStatsAfter(own);
  return (
    <section aria-labelledby={heading} className="mt-8">
      <div className="mb-2 flex items-center gap-3">
        <h2 id={heading} className="flex-1 text-lg font-semibold">
          {t.title}
        </h2>
        {mayWrite && (
          <Button small icon="retry" onClick={onNew}>
            {t.start}
          </Button>
        )}
      </div>
      <p className="mb-3 text-muted">{t.about}</p>
      {data === undefined && error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {data !== undefined && own.length === 0 && <p className="text-muted">{t.none}</p>}
      {own.length > 0 && (
        <ul className="divide-y divide-line rounded-xl border border-line bg-surface">
          {own.map((replay) => (
            <ReplayRow key={replay.id} replay={replay} isStarted={replay.id === started} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** The figures beside change with each replay that ends. */
function useStatsAfter(replays: readonly Replay[]): void {
  const queryClient = useQueryClient();
  const running = replays.filter(({ status }) => status === "running").length;
  const before = useRef(running);
  useEffect(() => {
    if (running < before.current) void queryClient.invalidateQueries({ queryKey: ["stats"] });
    before.current = running;
  }, [running, queryClient]);
}

function ReplayRow({ replay, isStarted }: { replay: Replay; isStarted: boolean }) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isStarted) row.current?.focus();
  }, [isStarted]);
  const t = useTexts(texts);
  const format = useFormat();
  const { mayWrite } = usePermissions();
  const isRunning = replay.status === "running";
  const done = replay.delivered + replay.failed;
  const share = replay.total === 0 ? 0 : Math.min(1, done / replay.total);
  return (
    <li ref={row} tabIndex={-1} className="px-4 py-3 -outline-offset-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={TONES[replay.status]}>{t.status[replay.status]}</Badge>
        <span className="tabular">{t.progress(format.number(done), format.number(replay.total))}</span>
        <span className="tabular text-sm text-muted">{format.dateTime(new Date(replay.created_at))}</span>
        <span className="ml-auto">{isRunning && mayWrite && <CancelButton id={replay.id} row={row} />}</span>
      </div>
      {isRunning && (
        <progress
          value={share}
          aria-label={t.label(format.percent(share))}
          className="mt-2 block h-1.5 w-full overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-accent"
        />
      )}
      <p className="tabular mt-1 text-sm text-muted">
        {t.of[replay.select]}: {format.dateTime(new Date(replay.from))} –{" "}
        {format.dateTime(new Date(replay.to))}
      </p>
      <p className="tabular mt-1 text-sm text-muted">
        {t.outcome(
          format.number(replay.delivered),
          format.number(replay.failed),
          format.number(replay.skipped),
        )}
        {replay.event_type !== null && ` · ${replay.event_type}`}
        {replay.cause !== null && ` · ${replay.cause}`}
      </p>
      {replay.skipped > 0 && !isRunning && <p className="mt-1 text-sm text-muted">{t.skippedWhy}</p>}
    </li>
  );
}

function CancelButton({ id, row }: { id: string; row: RefObject<HTMLElement | null> }) {
  const t = useTexts(texts);
  const errorText = useErrorText();
  const [isAsking, setIsAsking] = useState(false);
  const isCanceled = useRef(false);
  const cancel = useMutation({
    mutationFn: () =>
      bodyOf(api.POST("/api/replays/{replay_id}/cancel", { params: { path: { replay_id: id } } })),
    onSuccess() {
      isCanceled.current = true;
      toast({ title: t.canceled });
    },
    onError: (error) => toast({ ...errorText(asApiError(error)), isBad: true }),
    onSettled: () => setIsAsking(false),
  });
  return (
    <>
      <Button small icon="close" onClick={() => setIsAsking(true)}>
        {t.cancel}
      </Button>
      <AskDialog
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onYes={() => cancel.mutate()}
        isBusy={cancel.isPending}
        title={t.cancelTitle}
        about={t.cancelAbout}
        yes={t.cancel}
        no={t.goOn}
        // A replay that has ended has no button.
        finalFocus={() => (isCanceled.current ? row.current : null) ?? true}
      />
    </>
  );
}
