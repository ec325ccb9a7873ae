/** Which test files are tried on the mutants of a part, and in which order. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The whole program meets here: what reaches a part only through them says nothing about it. */
const COMPOSITION =
  /^src\/(?:service\/|main\.ts$|demo\/)(?!.*\.test\.ts$)|^test\/support\/(?:service|program)\.ts$/;
/** Imports between a test and a part, in the same slice and from another one. Farther ones reach everything. */
const STEPS = { inSlice: 2, fromElsewhere: 1 };
/** So many tests import these for a helper that an import says nothing: beside their own tests, those named below are tried. */
const EVERYWHERE = /^src\/(?:shared|database|telemetry|config)/;

/** Too slow, or about other programs, so never tried. */
const LEFT_OUT =
  /^test\/(?:oldest|deploy|release|schemathesis|api-clients|built-program|earlier-releases|rolling-upgrade|oldest-postgres|demo|receivers|supply-chain|docs|restored-database|crash-series|large-pages|noisy-|shard-placing|statement-plans|storage-lifecycle|s3-|embedded-restart)|-kills\.test\.ts$|(?:worker-simulation|slot-keeper)\.test\.ts$|^portal\//;

/** Tests of the running program that show what a part does, by words in their names, beside those that import it. */
const SHOWN_BY: readonly [part: RegExp, words: readonly string[]][] = [
  [
    /^src\/outbound/,
    ["hostile-receivers", "masked-headers", "rotate-secret", "test-dispatch", "names-that-move"],
  ],
  [
    /^src\/queue/,
    [
      "queue-contract",
      "tenants-on-their-way",
      "leases",
      "dispatching",
      "retry.test",
      "endpoints.test",
      "deleted-endpoint",
      "idempotency",
      "publish-from-sql",
      "relay-outbox",
      "pull.test",
      "pull-mode",
      "dead-workers",
      "partitions",
      "worker-metrics",
      "replays.test",
      "send-again",
      "operations",
      "locked-endpoint",
      "lock-order",
      "superseded",
      "logged-headers",
      "held-keys",
      "wide-fan-out",
      "long-log",
      "large-backlogs",
    ],
  ],
  [
    /^src\/worker/,
    [
      "dispatching",
      "leases",
      "retry.test",
      "automatic-attempts",
      "endpoint-health",
      "hostile-receivers",
      "slow-siblings",
      "worker-metrics",
      "rotate-secret",
      "processes.test",
      "deleted-endpoint",
      "locked-endpoint",
      "superseded",
      "dead-workers",
      "interrupted-sends",
    ],
  ],
  [
    /^src\/endpoints/,
    [
      "endpoints.test",
      "rotate-secret",
      "endpoint-health",
      "endpoint-notices",
      "masked-headers",
      "change-keys",
      "listen.test",
      "pull-mode",
      "deleted-endpoint",
      "unusable-secrets",
      "lost-key",
      "tenancy.test",
      "audit.test",
      "locked-endpoint",
      "lock-order",
    ],
  ],
  [
    /^src\/events/,
    [
      "publish",
      "events.test",
      "event-versions",
      "catalog",
      "idempotency",
      "relay-outbox",
      "hostile-bodies",
      "slips",
      "backpressure",
      "commits",
      "held-keys",
      "wide-fan-out",
    ],
  ],
  [
    /^src\/deliveries/,
    [
      "delivery-log",
      "search-deliveries",
      "events.test",
      "stats",
      "log-stream",
      "log-reads",
      "retry.test",
      "send-again",
      "test-dispatch",
      "interrupted-sends",
      "pull-mode",
      "pull-requests",
      "tenancy.test",
      "event-versions",
      "superseded",
      "long-log",
      "audit.test",
    ],
  ],
  [
    /^src\/database/,
    [
      "starting",
      "silent-database",
      "tenancy",
      "readiness",
      "partitions",
      "secrets",
      "listener",
      "processes-apart",
      "forgetting",
      "operations",
      "several-hosts.test",
      "doctor",
    ],
  ],
  [
    /^src\/api/,
    [
      "endpoints.test",
      "delivery-log",
      "publish.test",
      "sessions.test",
      "order-of-checks",
      "caller-limits",
      "inbound-limits",
      "slips",
      "hostile-bodies",
      "file-links",
      "readiness",
      "api-document",
      "api-reference",
      "events.test",
      "exports.test",
      "artifacts.test",
      "pull.test",
      "replays.test",
      "retry.test",
      "rotate-secret",
      "test-dispatch",
      "stats.test",
      "tenants.test",
      "audit-re",
      "fair-readers",
      "log-stream",
      "operations",
      "portal-sessions",
      "search-deliveries",
      "changes-in-use",
      "lookups",
      "compressed-answers",
      "portal-app",
    ],
  ],
  [
    /^src\/storage/,
    [
      "exports.test",
      "export-",
      "artifacts.test",
      "file-links",
      "reconcile.test",
      "storage-safety",
      "bucket-owner",
      "superseded",
      "audit-storage",
      "tenant-erasure",
    ],
  ],
  [/^src\/replays/, ["replay"]],
  [/^src\/pull/, ["pull"]],
  [/^src\/portal/, ["portal-sessions", "portal-command"]],
  [/^src\/audit/, ["audit"]],
  [
    /^src\/service/,
    [
      "shards.test",
      "shard-erasures",
      "shard-handovers",
      "shard-outages",
      "starting",
      "operations",
      "portal-sessions",
      "tenants.test",
      "audit-reading",
      "bucket-owner",
      "storage-safety",
      "artifacts.test",
      "pull.test",
      "intake.test",
      "intake-shards",
      "intake-disk-full",
      "worker-metrics",
      "sessions.test",
      "api-document",
      "tracing",
      "send-again",
      "unusable-secrets",
    ],
  ],
  [/^src\/tenants/, ["tenant-erasure", "tenants.test", "operator-tenant"]],
  [/^src\/telemetry/, ["tracing", "secrets", "operations", "worker-metrics"]],
  [
    /^src\/cli/,
    [
      "catalog-command",
      "command-database",
      "portal-command",
      "reconcile-command",
      "replay-command",
      "storage-commands",
      "listen.test",
      "doctor",
      "starting",
      "audit-reading",
      "keys-in-use",
      "lost-key",
      "publish-events",
      "shard-commands",
      "shard-mistakes",
      "several-hosts-program",
      "refused-moves",
      "tenant-moves",
      "intake-doctor",
      "storage-safety",
      "bucket-owner",
    ],
  ],
];

/** Words that fit no test file any more, or only files that are left out. */
export function unusedWords(root: string): string[] {
  const tests = globSync("test/*.test.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !LEFT_OUT.test(file));
  return SHOWN_BY.flatMap(([, words]) => words).filter(
    (word) => !tests.some((test) => test.startsWith(`test/${word}`)),
  );
}

/** Test files, those beside the code first. `folder` and answers are relative to `root`, with slashes. */
export function relatedTests(root: string, folder: string): string[] {
  const tests = globSync(["src/**/*.test.ts", "test/*.test.ts"], { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !LEFT_OUT.test(file));
  const graph = new Map<string, string[]>();
  const words = SHOWN_BY.filter(([part]) => part.test(folder)).flatMap(([, shown]) => shown);
  const isInFolder = (file: string): boolean => file === folder || file.startsWith(`${folder}/`);
  const isAbout = (test: string): boolean => {
    // One that starts its file as a program imports nothing of it.
    if (isInFolder(test.replace(/\.test\.ts$/, ".ts"))) return true;
    const isInSlice = sliceOf(test) === sliceOf(folder);
    if (EVERYWHERE.test(folder) && !isInSlice) return false;
    const steps = isInSlice ? STEPS.inSlice : STEPS.fromElsewhere;
    return reaches({ root, graph, isGoal: isInFolder }, test, steps);
  };
  return tests
    .filter((test) => isAbout(test) || words.some((word) => test.startsWith(`test/${word}`)))
    .sort((one, other) => Number(one.startsWith("test/")) - Number(other.startsWith("test/")));
}

function sliceOf(path: string): string {
  return path.split("/", 2).join("/");
}

type Search = { root: string; graph: Map<string, string[]>; isGoal: (file: string) => boolean };

function reaches({ root, graph, isGoal }: Search, start: string, steps: number): boolean {
  let files = new Set([start]);
  for (let step = 0; step < steps; step++) {
    const open = [...files].filter((file) => !COMPOSITION.test(file));
    files = new Set(open.flatMap((file) => importsOf(root, graph, file)));
    if ([...files].some(isGoal)) return true;
  }
  return false;
}

/** Every import ends in `.ts`, so it is a path; types alone run nothing. */
function importsOf(root: string, graph: Map<string, string[]>, file: string): string[] {
  const known = graph.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, file), "utf8").replaceAll(/^(?:import|export) type [^;]*;/gm, "");
  const found = [...text.matchAll(/(?:from|import\(?)\s*"(\.[^"]+\.ts)"/g)].map(([, path = ""]) =>
    join(dirname(file), path).replaceAll("\\", "/"),
  );
  graph.set(file, found);
  return found;
}
