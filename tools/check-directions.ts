/**
 * Runs dependency-cruiser over the sources, having first seen it find one
 * break of every rule in a small tree made for that: without its parser it
 * finds no modules at all, and calls that clean.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const config = join(root, ".dependency-cruiser.mjs");

type Violation = { rule: string; from: string; to: string };
export type Cruise = { modules: string[]; violations: Violation[] };

/** One file for each rule that must be refused for it. The key is the rule, then the file, then its text. */
export const BREAKS: [rule: string, file: string, text: string][] = [
  ["no-cycles", "src/shared/one.ts", 'import "./two.ts";'],
  ["shared-is-a-leaf", "src/shared/up.ts", 'import "../telemetry/leaf.ts";'],
  ["telemetry-and-database-stay-below", "src/database/up.ts", 'import "../events/leaf.ts";'],
  ["telemetry-and-database-stay-below", "src/telemetry/up.ts", 'import "../database/leaf.ts";'],
  ["slices-do-not-import-edges", "src/events/up.ts", 'import type { Leaf } from "../api/leaf.ts";'],
  ["slices-do-not-import-edges", "src/tenants/up.ts", 'import type { Leaf } from "../cli/leaf.ts";'],
  ["slices-do-not-import-edges", "src/events/config.ts", 'import type { Leaf } from "../config.ts";'],
  ["queue-is-below-its-users", "src/queue/up.ts", 'import "../events/leaf.ts";'],
  ["worker-is-above-the-slices", "src/events/work.ts", 'import "../worker/leaf.ts";'],
  ["queue-adapter-behind-its-port", "src/events/adapter.ts", 'import "../queue/postgres/leaf.ts";'],
  ["storage-rules-are-pure", "src/storage/rules/impure.ts", 'import "../rows/leaf.ts";'],
  ["storage-rows-and-bytes-stay-below", "src/storage/bytes/up.ts", 'import "../library/leaf.ts";'],
  ["edges-do-not-import-each-other", "src/api/across.ts", 'import "../cli/leaf.ts";'],
  ["only-main-starts", "src/cli/main.ts", 'import "../main.ts";'],
  ["no-foreign-stores", "src/events/foreign.ts", 'import "../endpoints/endpoint-store.ts";'],
  ["pg-stays-in-database", "src/events/query.ts", 'import { Pool } from "pg";\nnew Pool();'],
  ["pg-stays-in-database", "src/api/types.ts", 'import type { Pool } from "pg";\nexport type P = Pool;'],
  ["dial-out-in-outbound", "src/deliveries/http.ts", 'import { request } from "node:https";\nrequest("");'],
  ["dial-out-in-outbound", "src/storage/dns.ts", 'import { lookup } from "node:dns/promises";\nlookup("");'],
  ["dial-out-in-outbound", "src/cli/undici.ts", 'import { request } from "undici";\nrequest("");'],
  ["dial-out-in-outbound", "src/database/pool.ts", 'import { connect } from "node:net";\nconnect(1);'],
  ["traces-in-one-place", "src/worker/spans.ts", 'import "@opentelemetry/sdk-trace";'],
  [
    "traces-when-needed",
    "src/service/spans.ts",
    'import { Leaf } from "../telemetry/otlp-tracing.ts";\nLeaf;',
  ],
  ["intake-client-in-one-place", "src/intake/other.ts", 'import "@nats-io/jetstream";'],
  [
    "intake-client-when-needed",
    "src/service/stream.ts",
    'import { Leaf } from "../intake/nats-stream.ts";\nLeaf;',
  ],
  ["object-store-sdk-in-one-place", "src/events/s3.ts", 'import "@aws-sdk/client-s3";'],
  [
    "object-store-sdk-when-needed",
    "src/storage/bytes/s3-config.ts",
    'import { Leaf } from "./s3-sdk.ts";\nLeaf;',
  ],
  ["object-store-sdk-in-its-adapter", "src/events/sdk.ts", 'await import("../storage/bytes/s3-sdk.ts");'],
  ["api-only-names-http", "src/api/dial.ts", 'import { connect } from "node:tls";\nconnect(1);'],
  ["demo-only-receives", "src/demo/dial.ts", 'import { connect } from "node:net";\nconnect(1);'],
  ["src-stands-alone", "src/cli/tool.ts", 'import "../../tools/leaf.ts";'],
];

/** What must stay allowed: a rule that refuses everything proves nothing. */
const ALLOWED: [file: string, text: string][] = [
  ["src/events/event-store.ts", 'import { Pool } from "pg";\nnew Pool();'],
  ["src/events/meet.ts", 'import "../endpoints/leaf.ts";'],
  ["src/telemetry/otlp-tracing.ts", 'export { TracerProvider as Leaf } from "@opentelemetry/sdk-trace";'],
  ["src/service/traces.ts", 'await import("../telemetry/otlp-tracing.ts");'],
  ["src/intake/nats-stream.ts", 'export { connect as Leaf } from "@nats-io/transport-node";'],
  ["src/service/intake.ts", 'await import("../intake/nats-stream.ts");'],
  ["src/storage/bytes/s3-sdk.ts", 'export { S3Client } from "@aws-sdk/client-s3";'],
  [
    "src/storage/bytes/s3-bucket.ts",
    'import type { S3 } from "./s3-sdk.ts";\nexport const x: S3 = await import("./s3-sdk.ts");',
  ],
  ["src/outbound/dial.ts", 'import { connect } from "node:tls";\nconnect(1);'],
  ["src/database/embedded/embedded-port.ts", 'import { createServer } from "node:net";\ncreateServer();'],
  ["src/demo/receive.ts", 'import { createServer } from "node:https";\ncreateServer();'],
];

/** Cruises `paths` of the tree at `cwd`. Throws when dependency-cruiser gives no result. */
export function cruise(cwd: string, paths: string[]): Cruise {
  const program = join(root, "node_modules", ".bin", "depcruise");
  const run = spawnSync(process.execPath, [program, "--config", config, "--output-type", "json", ...paths], {
    cwd,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  if (!run.stdout.startsWith("{")) throw new Error(`dependency-cruiser failed:\n${run.stdout}${run.stderr}`);
  return parseCruise(JSON.parse(run.stdout));
}

/** Seeds every break, and reports each one that was not found and each allowed file that was refused. */
export function proveRules(): string[] {
  const tree = mkdtempSync(join(tmpdir(), "postern-directions-"));
  try {
    const slices = ["endpoints", "events", "worker", "queue/postgres", "storage/rows", "storage/library"];
    const folders = ["shared", "telemetry", "database", ...slices, "api", "cli"];
    const leaves = folders.map((folder) => `src/${folder}/leaf.ts`);
    const plain = ["tools/leaf.ts", "src/main.ts", "src/config.ts", "src/endpoints/endpoint-store.ts"];
    for (const file of [...leaves, ...plain]) put(tree, file, "export type Leaf = 1;");
    // The way back of the seeded cycle, which is reported once.
    put(tree, "src/shared/two.ts", 'import "./one.ts";');
    for (const [, file, text] of BREAKS) put(tree, file, text);
    for (const [file, text] of ALLOWED) put(tree, file, text);
    const { violations } = cruise(tree, ["src"]);
    const missed = BREAKS.filter(
      ([rule, file]) => !violations.some((found) => found.rule === rule && found.from === file),
    ).map(([rule, file]) => `the rule ${rule} does not see the break seeded in ${file}`);
    const wrong = violations
      .filter(({ from }) => ALLOWED.some(([file]) => file === from))
      .map(({ rule, from }) => `the rule ${rule} refuses ${from}, which is allowed`);
    return [...missed, ...wrong];
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Checks the repository; each returned line is a fault, none means clean. */
export function checkDirections(paths: string[]): string[] {
  const unproven = proveRules();
  if (unproven.length > 0) return unproven;
  const { modules, violations } = cruise(root, paths);
  if (!modules.some((source) => source.startsWith("src/")))
    return ["dependency-cruiser saw no module of src"];
  return violations.map(({ rule, from, to }) => `${from} → ${to} (${rule})`);
}

function put(tree: string, file: string, text: string): void {
  mkdirSync(dirname(join(tree, file)), { recursive: true });
  writeFileSync(join(tree, file), `${text}\n`);
}

function parseCruise(value: unknown): Cruise {
  const modules = listOf(value, "modules").map((module) => textOf(module, "source"));
  const violations = listOf(fieldOf(value, "summary"), "violations").map((violation) => ({
    rule: textOf(fieldOf(violation, "rule"), "name"),
    from: textOf(violation, "from"),
    to: textOf(violation, "to"),
  }));
  return { modules, violations };
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function textOf(value: unknown, name: string): string {
  const text = fieldOf(value, name);
  if (typeof text !== "string") throw new Error(`dependency-cruiser's answer has no text in ${name}`);
  return text;
}

function listOf(value: unknown, name: string): unknown[] {
  const list = fieldOf(value, name);
  if (!Array.isArray(list)) throw new Error(`dependency-cruiser's answer has no list in ${name}`);
  return list;
}
