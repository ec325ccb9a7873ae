/**
 * Which part of the service may import which.
 *
 * shared ← telemetry, database ← slices ← api | cli ← service ← main. Of the slices, queue is the
 * lowest and worker the highest. tools/check-directions.ts
 * proves each rule on a seeded break before it trusts a clean result.
 */
import { readdirSync } from "node:fs";

const OTHERS = ["shared", "telemetry", "database", "api", "cli", "demo", "service"];
// Read, so that a new folder is a slice at once.
const SLICES = readdirSync(new URL("src", import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !OTHERS.includes(entry.name))
  .map(({ name }) => name)
  .join("|");
const TEST = String.raw`\.test\.ts$`;

const rules = [
  {
    name: "no-cycles",
    comment: "Parts that need each other are one part: move what both need into a third file.",
    from: {},
    to: { circular: true },
  },
  {
    name: "shared-is-a-leaf",
    comment: "src/shared imports nothing of the service.",
    from: { path: "^src/shared/", pathNot: TEST },
    to: { path: "^src/", pathNot: "^src/shared/" },
  },
  {
    name: "telemetry-and-database-stay-below",
    comment: "src/telemetry and src/database import only src/shared and src/telemetry.",
    from: { path: "^src/(telemetry|database)/", pathNot: TEST },
    to: { path: "^src/", pathNot: ["^src/(shared|telemetry)/", "^src/$1/"] },
  },
  {
    name: "slices-do-not-import-edges",
    comment: "A slice knows nothing of HTTP, the command line, the demonstration or the composition.",
    from: { path: `^src/(${SLICES})/`, pathNot: TEST },
    to: { path: "^src/", pathNot: `^src/(shared|telemetry|database|${SLICES})/` },
  },
  {
    name: "queue-is-below-its-users",
    comment: "What is durable knows nobody who puts events in or takes dispatches out.",
    from: { path: "^src/queue/", pathNot: TEST },
    to: { path: "^src/", pathNot: "^src/(shared|telemetry|database|queue)/" },
  },
  {
    name: "worker-is-above-the-slices",
    comment: "What a worker has in memory may vanish at any moment: no slice leans on it.",
    from: { path: "^src/", pathNot: ["^src/(worker|service)/", TEST] },
    to: { path: "^src/worker/" },
  },
  {
    name: "queue-adapter-behind-its-port",
    comment: "Only src/service chooses the adapter; everybody else knows src/queue/queue.ts.",
    from: { path: "^src/", pathNot: ["^src/(queue|service)/", TEST] },
    to: { path: "^src/queue/postgres/" },
  },
  {
    name: "storage-rules-are-pure",
    comment: "What storage decides is free of rows and bytes.",
    from: { path: "^src/storage/rules/", pathNot: TEST },
    to: { path: "^src/", pathNot: "^src/storage/rules/" },
  },
  {
    name: "storage-rows-and-bytes-stay-below",
    comment: "Library, exports, artifacts and upkeep use rows and bytes, never the other way round.",
    from: { path: "^src/storage/(rows|bytes)/", pathNot: TEST },
    to: { path: "^src/storage/(library|exports|artifacts|upkeep)/" },
  },
  {
    name: "edges-do-not-import-each-other",
    comment: "src/api and src/cli are put together by src/main.ts and src/service only.",
    from: { path: "^src/api/", pathNot: TEST },
    to: { path: "^src/(cli|demo|service)/|^src/main[.]ts$" },
  },
  {
    name: "only-main-starts",
    comment: "Nothing imports the entry point.",
    from: { pathNot: TEST },
    to: { path: "^src/main[.]ts$" },
  },
  {
    name: "no-foreign-stores",
    comment: "Slices meet through named functions: another slice's *-store.ts is its own business.",
    from: { path: `^src/(${SLICES})/`, pathNot: TEST },
    to: { path: `^src/(${SLICES})/.*-store[.]ts$`, pathNot: "^src/$1/" },
  },
  {
    name: "pg-stays-in-database",
    comment: "Types of pg come from src/database/pool.ts, queries belong in a *-store.ts.",
    from: { path: "^src/", pathNot: ["^src/database/", "-store[.]ts$", TEST] },
    to: { path: "^pg$|^@types/pg$|node_modules/(@types/)?pg/" },
  },
  {
    name: "dial-out-in-outbound",
    comment: "Only src/outbound opens connections: there each address is checked.",
    from: {
      path: "^src/",
      // The API names types of node:http; the demonstration has its own receiver; the embedded
      // database looks for a free port.
      pathNot: [
        "^src/outbound/",
        "^src/api/",
        "^src/demo/",
        "^src/database/embedded/embedded-port[.]ts$",
        TEST,
      ],
    },
    to: { path: "^(node:)?(http|https|http2|tls|net|dgram|dns|dns/promises)$|^undici$|node_modules/undici/" },
  },
  {
    name: "traces-in-one-place",
    comment: "One file names OpenTelemetry; others know src/telemetry/tracing.ts, which is only types.",
    from: { path: "^src/", pathNot: ["^src/telemetry/otlp-tracing[.]ts$", TEST] },
    to: { path: "^@opentelemetry/|node_modules/@opentelemetry/" },
  },
  {
    name: "traces-when-needed",
    comment: "It is loaded by a dynamic import: without a collector nobody pays for it.",
    from: { path: "^src/", pathNot: TEST },
    to: { path: "^src/telemetry/otlp-tracing[.]ts$", dynamic: false },
  },
  {
    name: "intake-client-in-one-place",
    comment:
      "Two files name NATS, which dials the servers that the operator configured; others know src/intake/stream.ts.",
    from: { path: "^src/", pathNot: ["^src/intake/nats-(stream|connect)[.]ts$", TEST] },
    to: { path: "^@nats-io/|node_modules/@nats-io/" },
  },
  {
    name: "intake-client-when-needed",
    comment: "It is loaded by a dynamic import: without an intake nobody pays for it.",
    from: { path: "^src/", pathNot: TEST },
    to: { path: "^src/intake/nats-stream[.]ts$", dynamic: false },
  },
  {
    name: "object-store-sdk-in-one-place",
    comment:
      "The SDK dials what the operator configured, not what a tenant gave, so it is outside the guard. One file names what is used of it.",
    from: { path: "^src/", pathNot: ["^src/storage/bytes/s3-sdk[.]ts$", TEST] },
    to: { path: "^@(aws-sdk|smithy)/|node_modules/@(aws-sdk|smithy)/" },
  },
  {
    name: "object-store-sdk-when-needed",
    comment:
      "Only src/storage/bytes loads the SDK, by a dynamic import: without a bucket nobody pays for it.",
    from: { path: "^src/", pathNot: TEST },
    to: {
      path: "^src/storage/bytes/s3-sdk[.]ts$",
      dynamic: false,
      dependencyTypesNot: ["type-only"],
    },
  },
  {
    name: "object-store-sdk-in-its-adapter",
    comment: "Whoever needs an object store asks the bucket.",
    from: { path: "^src/", pathNot: ["^src/storage/bytes/s3-(bucket|config)[.]ts$", TEST] },
    to: { path: "^src/storage/bytes/s3-sdk[.]ts$" },
  },
  {
    name: "api-only-names-http",
    comment: "src/api may import node:http, for its types and names, and nothing else that dials.",
    from: { path: "^src/api/", pathNot: TEST },
    to: { path: "^(node:)?(https|http2|tls|net|dgram|dns|dns/promises)$|^undici$|node_modules/undici/" },
  },
  {
    name: "demo-only-receives",
    comment: "src/demo may serve over node:http and node:https, and nothing else.",
    from: { path: "^src/demo/", pathNot: TEST },
    to: { path: "^(node:)?(http2|tls|net|dgram|dns|dns/promises)$|^undici$|node_modules/undici/" },
  },
  {
    name: "src-stands-alone",
    comment: "The service does not import tests, tools or benchmarks.",
    from: { path: "^src/", pathNot: TEST },
    to: { path: "^(test|tools|bench|receivers|portal)/" },
  },
];

const config = {
  forbidden: rules.map((rule) => Object.assign(rule, { severity: "error" })),
  options: {
    parser: "swc",
    // Types are dependencies too: a type of pg in a slice ties it to pg.
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { extensions: [".ts", ".mjs", ".js", ".json"] },
  },
};

// dependency-cruiser reads its configuration from the default export and knows no other way.
// oxlint-disable-next-line import/no-default-export
export default config;
