import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "../../shared/refusal.ts";
import type { Bucket } from "../../storage/bytes/bucket.ts";
import type { FileRequest, LinkSigner } from "../../storage/bytes/file-links.ts";
import { readRange } from "../range.ts";

/** A bucket whose files are served by signed link. */
export type ServedBucket = {
  bucket: Bucket;
  /** The time by the clock that links are made by, and whether the file's artifact was erased or has expired. */
  stateOfLink(file: FileRequest): Promise<{ nowMs: number; isClosed: boolean }>;
};

/** The served buckets by their names, and the signer whose links open their files. */
export type ServedFiles = { signer: LinkSigner; buckets: ReadonlyMap<string, ServedBucket> };

/**
 * Files of a bucket that serves none itself. There is no session: the link's
 * signature is the permission, for GET alone, and whatever is wrong with a
 * link, the answer is the same.
 *
 * @param files null where the bucket serves its own links: then no link of ours is good.
 */
export function fileRoutes(app: FastifyInstance, files: ServedFiles | null): void {
  app.route({
    // A framework would answer HEAD by itself, and a body would be read before the handler.
    method: app.supportedMethods,
    url: "/*",
    exposeHeadRoute: false,
    schema: { hide: true },
    onRequest: async (request) => {
      if (request.method !== "GET") throw new Refusal("forbidden");
    },
    handler: async (request, reply) => {
      const asked = files?.signer.verify(readLink(app.prefix, request.originalUrl)) ?? null;
      const served = asked === null ? undefined : files?.buckets.get(asked.bucket);
      if (served === undefined || asked === null) throw new Refusal("forbidden");
      const { nowMs, isClosed } = await served.stateOfLink(asked);
      // Written so that a date that is none refuses too.
      if (!(nowMs < asked.endsAtMs)) throw new Refusal("forbidden");
      if (isClosed) throw new Refusal("not_found");
      return sendFile(served.bucket, asked, { request, reply });
    },
  });
}

/** The link as it was sent: signed bytes are compared, so nothing is decoded first. */
function readLink(prefix: string, url: string): { place: string; query: string } {
  const end = url.indexOf("?");
  const path = end === -1 ? url : url.slice(0, end);
  return { place: path.slice(prefix.length + 1), query: end === -1 ? "" : url.slice(end + 1) };
}

async function sendFile(
  bucket: Bucket,
  asked: FileRequest,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<FastifyReply> {
  const { key, versionId } = asked;
  const head = await bucket.head({ bucket: asked.bucket, key, version_id: versionId });
  if (!head.found) throw new Refusal("not_found");
  const etag = `"${head.etag}"`;
  const { range: wanted, "if-range": condition } = request.headers;
  // A client that has begun other bytes must not join a part of these to them.
  const range = condition === undefined || condition === etag ? readRange(wanted, head.size) : null;
  if (range === "unsatisfiable") {
    void reply.header("Content-Range", `bytes */${head.size}`);
    throw new Refusal("range_not_satisfiable");
  }
  const opened = await bucket.get({ key, versionId, ...(range === null ? {} : { range }) });
  // Its bytes are no longer the ones of this version.
  if (!opened.found) throw new Refusal("not_found");
  const length = range === null ? head.size : range.end - range.start + 1;
  if (range !== null) {
    void reply.code(206).header("Content-Range", `bytes ${range.start}-${range.end}/${head.size}`);
  }
  return reply
    .headers({
      "Accept-Ranges": "bytes",
      "Cache-Control": "no-store",
      "Content-Disposition": asked.contentDisposition,
      "Content-Length": String(length),
      "Content-Type": asked.contentType,
      ETag: etag,
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
    })
    .send(opened.body);
}
