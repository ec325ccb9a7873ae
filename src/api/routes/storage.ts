import type { FastifyInstance, FastifyRequest } from "fastify";
import * as z from "zod";
import { parseExportId } from "../../shared/id.ts";
import type { Caller } from "../../audit/audit-entry.ts";
import type { StorageCaller } from "../../storage/library/downloads.ts";
import { Refusal } from "../../shared/refusal.ts";
import { EXPORT_FORMATS } from "../../storage/exports/log-export.ts";
import { uuid } from "../../storage/rules/values.ts";
import { callerOf, userOf } from "../access.ts";
import {
  artifactExample,
  exportExample,
  exportInputExample,
  linkInputExample,
  settingsExample,
} from "../examples.ts";
import { describeRoute, linksTo } from "../openapi.ts";
import { firstPage } from "../../shared/first-page.ts";
import { linkBefore, NEXT_PAGE } from "../page-query.ts";
import { parse, parseQuery } from "../parse.ts";
import type { ApiServices } from "../services.ts";
import { PERMISSIONS } from "../session.ts";
import {
  artifactObject,
  artifactView,
  cursorText,
  downloadInput,
  erasedObject,
  exportInput,
  exportObject,
  exportsQuery,
  exportView,
  heldObject,
  libraryQuery,
  settingsObject,
  settingsView,
  toSettings,
} from "../storage-schemas.ts";

type ObjectParams = { Params: { object_id: string } };
type ExportParams = { Params: { export_id: string } };

const READ = { permission: "settings:read" } as const;
const WRITE = { permission: "settings:write", limit: "writes" } as const;
const HOLD = { permission: "storage:hold", limit: "writes" } as const;
/** Readers may have links, but each issued link is a row. */
const GIVE_LINK = { ...READ, limit: "writes" } as const;

/** A tenant's artifacts and exports: everything under /api/storage but the files. */
export function storageRoutes(app: FastifyInstance, services: ApiServices): void {
  artifactRoutes(app, services);
  exportRoutes(app, services);
  settingsRoutes(app, services);
}

function artifactRoutes(app: FastifyInstance, { downloads, artifactChanges }: ApiServices): void {
  app.delete<ObjectParams>(
    "/objects/:object_id",
    {
      config: WRITE,
      schema: describeRoute({
        operationId: "eraseArtifact",
        tag: "Storage",
        summary: "Erase a stored artifact: it gets no further links, and its bytes are deleted",
        description:
          "No new link is given and served links end. An artifact on hold is 409. There is no way back.",
        params: ["object_id"],
        answers: { 200: erasedObject },
        examples: { 200: [{ id: artifactExample.id, bytes: "deleted" }] },
        refusals: ["not_found", "held", "not_available"],
      }),
    },
    async (request) => {
      const id = requireUuid(request.params.object_id);
      return { id, bytes: await artifactChanges.erase(callerOf(request), id) };
    },
  );

  for (const [method, isHeld] of [
    ["PUT", true],
    ["DELETE", false],
  ] as const) {
    app.route<ObjectParams>({
      method,
      url: "/objects/:object_id/hold",
      config: HOLD,
      schema: describeRoute({
        operationId: isHeld ? "holdArtifact" : "endHoldOfArtifact",
        tag: "Storage",
        summary: isHeld
          ? "Hold a stored artifact: it can neither expire nor be erased"
          : "End the hold of a stored artifact: it expires at its deadline, at once if that has passed",
        description: `For callers with the permission \`storage:hold\`. Repeating it changes nothing. The library shows the artifact all the while.${isHeld ? " An artifact that has expired or was erased is 410 once its bytes are deleted." : ""}`,
        params: ["object_id"],
        answers: { 200: heldObject },
        examples: { 200: [{ id: artifactExample.id, held: isHeld }] },
        refusals: isHeld ? ["not_found", "gone"] : ["not_found"],
      }),
      handler: async (request) => {
        const id = requireUuid(request.params.object_id);
        await artifactChanges.hold(callerOf(request), id, isHeld);
        return { id, held: isHeld };
      },
    });
  }

  app.get(
    "/library",
    {
      config: READ,
      schema: describeRoute({
        operationId: "listArtifacts",
        tag: "Storage",
        summary: "List stored artifacts, newest first",
        description:
          "Exports and, if the tenant keeps them, bodies of attempts. `next` is null on the last page.",
        query: libraryQuery,
        answers: { 200: z.object({ items: z.array(artifactObject), next: z.string().nullable() }) },
        examples: { 200: [{ items: [artifactExample], next: null }] },
        refusals: ["invalid_query"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      const { after = null, limit, kind } = parseQuery(libraryQuery, request.query);
      const { items, next } = await downloads.library(tenantId, { after, limit, kind });
      return { items: items.map(artifactView), next: cursorText(next) };
    },
  );

  app.get<ObjectParams>(
    "/objects/:object_id",
    {
      config: READ,
      schema: describeRoute({
        operationId: "getArtifact",
        tag: "Storage",
        summary: "Show a stored artifact",
        description: "What it is, how large, until when it is kept, and whether it can be downloaded now.",
        params: ["object_id"],
        answers: { 200: z.object({ object: artifactObject }) },
        examples: { 200: [{ object: artifactExample }] },
        refusals: ["not_found"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      return { object: artifactView(await downloads.get(tenantId, parseUuid(request.params.object_id))) };
    },
  );

  app.post<ObjectParams>(
    "/objects/:object_id/download",
    {
      config: GIVE_LINK,
      schema: describeRoute({
        operationId: "downloadArtifact",
        tag: "Storage",
        summary: "Get a link to a stored artifact; anybody with the link can download it",
        description:
          "The link is a permission in itself, so it should live shortly and not be logged. It ends with the artifact, whatever `ttl_seconds` says. Each link is an entry of the audit log.",
        params: ["object_id"],
        body: downloadInput,
        answers: { 201: z.object({ url: z.string(), expires_at: z.iso.datetime() }) },
        examples: {
          body: [linkInputExample],
          201: [
            {
              url: "https://postern.example.com/api/storage/files/…",
              expires_at: "2026-02-01T09:05:07.418Z",
            },
          ],
        },
        refusals: ["validation_failed", "not_found", "not_available", "gone"],
      }),
    },
    async (request, reply) => {
      const input = parse(downloadInput, request.body);
      const link = await downloads.issueLink(storageCallerOf(request), {
        objectId: parseUuid(request.params.object_id),
        deliveryId: input.delivery_id,
        ttlSeconds: input.ttl_seconds,
      });
      return reply
        .code(201)
        .headers({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" })
        .send({ url: link.url, expires_at: link.expiresAt });
    },
  );
}

function exportRoutes(app: FastifyInstance, { exports }: ApiServices): void {
  app.post(
    "/exports",
    {
      config: WRITE,
      links: { 202: linksTo(["getExport"], { export_id: "$response.body#/id" }) },
      schema: describeRoute({
        operationId: "createExport",
        tag: "Storage",
        summary: "Request an archive of the delivery log; the event storage.export.ready announces it",
        description:
          "A worker writes the archive. Wait for the event `storage.export.ready`, or poll the export.",
        body: exportInput,
        answers: { 202: z.object({ id: z.uuid() }) },
        examples: { body: [exportInputExample], 202: [{ id: exportExample.id }] },
        refusals: ["validation_failed", "endpoint_not_found", "export_limit_reached"],
      }),
    },
    async (request, reply) => {
      const { subject } = userOf(request);
      const input = parse(exportInput, request.body);
      const id = await exports.request(callerOf(request), {
        from: new Date(input.from),
        to: new Date(input.to),
        endpointId: input.endpoint_id ?? null,
        eventType: input.event_type ?? null,
        deliveryStatus: input.delivery_status ?? null,
        formats: EXPORT_FORMATS.filter((format) => input.formats.includes(format)),
        requestedBy: storable(subject),
      });
      return reply.code(202).send({ id });
    },
  );

  app.get(
    "/exports",
    {
      config: READ,
      schema: describeRoute({
        operationId: "listExports",
        tag: "Storage",
        summary: "List exports, newest first",
        description: "All states: waiting, running, ready, failed and expired.",
        query: exportsQuery,
        answers: { 200: z.object({ exports: z.array(exportObject) }) },
        examples: { 200: [{ exports: [exportExample] }] },
        headers: { Link: NEXT_PAGE },
        refusals: ["invalid_query"],
      }),
    },
    async (request, reply) => {
      const { tenantId } = userOf(request);
      const { before = null, limit } = parseQuery(exportsQuery, request.query);
      const { rows, last } = firstPage(await exports.list(tenantId, { before, limit: limit + 1 }), limit);
      if (last !== undefined) void reply.header("Link", linkBefore(request.url, last.id));
      return { exports: rows.map(exportView) };
    },
  );

  app.get<ExportParams>(
    "/exports/:export_id",
    {
      config: READ,
      schema: describeRoute({
        operationId: "getExport",
        tag: "Storage",
        summary: "Show an export and its progress",
        description:
          "`progress` counts rows; `object_id` is the artifact to download once the status is `ready`.",
        params: ["export_id"],
        answers: { 200: exportObject },
        examples: { 200: [exportExample] },
        refusals: ["not_found"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      return exportView(await exports.get(tenantId, parseExportId(request.params.export_id)));
    },
  );
}

function settingsRoutes(app: FastifyInstance, { storageSettings }: ApiServices): void {
  app.get(
    "/settings",
    {
      config: READ,
      schema: describeRoute({
        operationId: "getStorageSettings",
        tag: "Storage",
        summary: "Show which bodies are stored, and for how long",
        description: "Which bodies are stored beyond the log, and for how many days.",
        answers: { 200: settingsObject },
        examples: { 200: [settingsExample] },
      }),
    },
    async (request) => settingsView(await storageSettings.get(userOf(request).tenantId)),
  );

  app.put(
    "/settings",
    {
      config: WRITE,
      schema: describeRoute({
        operationId: "putStorageSettings",
        tag: "Storage",
        summary: "Choose which bodies are stored from now on",
        description:
          "Attempts from now on follow the new settings; what is stored already stays until its time ends.",
        body: settingsObject,
        answers: { 200: settingsObject },
        examples: { body: [settingsExample], 200: [settingsExample] },
        refusals: ["validation_failed"],
      }),
    },
    async (request) => {
      const settings = toSettings(parse(settingsObject, request.body));
      return settingsView(await storageSettings.put(callerOf(request), settings));
    },
  );
}

function requireUuid(text: string): string {
  const id = parseUuid(text);
  if (id === null) throw new Refusal("not_found");
  return id;
}

/** Null if it is no id, so it does not exist. */
function parseUuid(text: string): string | null {
  const parsed = uuid.safeParse(text);
  return parsed.success ? parsed.data : null;
}

/** Of a session's subject, which may be anything: what PostgreSQL keeps as text. */
function storable(subject: string | null): string {
  return (subject ?? "").toWellFormed().replaceAll("\0", "\ufffd");
}

/** Storage is told of the permissions that it knows, and of no others. */
function storageCallerOf(request: FastifyRequest): StorageCaller & Caller {
  const { subject, permissions } = userOf(request);
  return {
    ...callerOf(request),
    subject: subject ?? "",
    permissions: PERMISSIONS.filter((permission) => permissions.has(permission)),
  };
}
