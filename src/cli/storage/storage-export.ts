import { constants, createWriteStream } from "node:fs";
import { access, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { defineCommand } from "citty";
import * as z from "zod";
import { exportObject } from "../../api/storage-schemas.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { messageOf, reasonOf } from "../../shared/message-of.ts";
import {
  openApiClient,
  printingRefusals,
  readAnswer,
  URL_ARGUMENT,
  type ApiClient,
} from "../client/api-client.ts";
import { withClearErrors } from "../command.ts";
import { instantOf } from "../instants.ts";
import type { Progress } from "../progress.ts";
import { waitForWork } from "../client/wait-for-work.ts";

const requested = z.object({ id: z.string() });
const link = z.object({ url: z.string() });
type Export = z.infer<typeof exportObject>;

export const exportCommand = defineCommand({
  meta: {
    name: "export",
    description: "Export a tenant's delivery log, and wait until the archive is there",
  },
  args: {
    tenant: { type: "string", required: true, description: "Tenant id" },
    from: {
      type: "string",
      required: true,
      description: "Created at or after, for example 2026-01-31 or 2026-01-31T08:00Z",
    },
    to: { type: "string", description: "Created before; default: now" },
    endpoint: { type: "string", description: "One endpoint's id; default: all" },
    type: { type: "string", description: "An event type, or one as invoice.* for all below; default: all" },
    status: { type: "string", description: "delivered, failed or test; default: all" },
    format: {
      type: "string",
      description: "ndjson, csv, parquet, or several with commas; default: ndjson,csv",
    },
    output: { type: "string", description: "File to download the archive to" },
    json: { type: "boolean", description: "As JSON" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        if (args.output !== undefined) await requirePlace(args.output);
        const api = await openApiClient({ type: "user", tid: args.tenant, role: "owner" }, args.url);
        const range = { from: instantOf("--from", args.from), to: instantOf("--to", args.to) };
        const asked = {
          ...range,
          endpoint_id: args.endpoint,
          event_type: args.type,
          delivery_status: args.status,
          formats: args.format?.split(",").map((format) => format.trim()),
        };
        const answer = await api.call("POST", "/api/storage/exports", JSON.stringify(asked));
        const { id } = readAnswer(requested, answer);
        const isJson = args.json === true;
        const found = await waitForWork(`export ${id}`, isJson, (show) => lookAt(api, id, show));
        if (found.status === "ready" && args.output !== undefined) await download(api, found, args.output);
        if (isJson) console.log(JSON.stringify(found, null, 2));
        else console.log(summaryOf(found, args.output));
        if (found.status !== "ready") process.exitCode = 1;
      }),
    ),
});

/** Null while it is made. */
async function lookAt(api: ApiClient, id: string, show: Progress["show"]): Promise<Export | null> {
  const found = readAnswer(exportObject, await api.call("GET", `/api/storage/exports/${id}`));
  const { rows_done: done, rows_total: total } = found.progress;
  show(total === null ? found.status : `${found.status}: ${done} of ${total} deliveries`);
  return found.status === "queued" || found.status === "running" ? null : found;
}

/** Before an export is made that could not be put there. */
async function requirePlace(file: string): Promise<void> {
  const folder = dirname(resolve(file));
  await access(folder, constants.W_OK).catch(() => {
    throw new ConfigError(`--output ${file}: the folder ${folder} does not exist, or is not writable`);
  });
  const found = await stat(file).catch(() => null);
  if (found?.isDirectory() === true)
    throw new ConfigError(
      `--output ${file} is a folder: add the archive's name, as in ${join(file, "log.zip")}`,
    );
}

async function download(api: ApiClient, found: Export, file: string): Promise<void> {
  const asked = JSON.stringify({ delivery_id: found.id });
  try {
    const answer = await api.call("POST", `/api/storage/objects/${found.object_id}/download`, asked);
    await fetchTo(file, readAnswer(link, answer).url);
  } catch (error) {
    // The export is made: whoever can't put it there needs to know where it is.
    const place = `the export is ready as artifact ${found.object_id}, and could not be downloaded`;
    throw new ConfigError(`${place}: ${messageOf(error)}`);
  }
}

/** The file is there whole or not at all. */
async function fetchTo(file: string, url: string): Promise<void> {
  const response = await follow(url);
  if (!response.ok || response.body === null) throw new Error(`the link answered ${response.status}`);
  const draft = `${file}.part`;
  try {
    await pipeline(Readable.fromWeb(response.body), createWriteStream(draft, { mode: 0o600 }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Links lead to the object store, or to PUBLIC_URL: not every machine that reaches the API reaches those. */
async function follow(url: string): Promise<Response> {
  return fetch(url).catch((error: unknown) => {
    // The rest of the link is a permission in itself.
    throw new ConfigError(`no answer from ${new URL(url).origin}, where the archive is (${reasonOf(error)})`);
  });
}

function summaryOf(found: Export, output: string | undefined): string {
  if (found.status !== "ready") return `The export ${found.id} has failed: ${found.error ?? found.status}`;
  const { rows_done: rows, rows_total: counted, bytes } = found.progress;
  const place = output === undefined ? `artifact ${found.object_id}` : output;
  const made = `${rows} deliveries in ${bytes} bytes: ${place}`;
  const deleted = (counted ?? rows) - rows;
  if (deleted <= 0) return made;
  return `${made}\n${deleted} more were counted, and deleted at the end of their retention before the export came to them`;
}
