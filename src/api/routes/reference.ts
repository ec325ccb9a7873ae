import { gzip } from "node:zlib";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { FastifyInstance } from "fastify";
import { takesGzip } from "../compress-answer.ts";
import { INIT, PAGE, STYLE } from "../reference-page.ts";

/** `npm run build` copies these from the package `swagger-ui-dist`. */
export const REFERENCE_FILES = ["swagger-ui-bundle.js", "swagger-ui.css"] as const;

const CONTENT_TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;

/**
 * The page asks this origin alone: no inline script or style, no frame around
 * it, nothing sent elsewhere. Pictures are in the style sheet, as data.
 */
const HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;

/** The API's document as a page to read and to try: `/reference`. It needs nothing from elsewhere. */
export function referenceRoutes(app: FastifyInstance): void {
  const kept = new Map<string, Promise<Kept>>();
  const serve = (url: string, type: string, read: () => Promise<Buffer>) =>
    app.get(url, { schema: { hide: true } }, async (request, reply) => {
      // Read and compressed once; all requests share these bytes.
      const file = kept.get(url) ?? read().then(compress);
      kept.set(url, file);
      // What cannot be read now is read again for the next.
      file.catch(() => kept.delete(url));
      const { plain, zipped } = await file;
      const isZipped = takesGzip(request);
      if (isZipped) void reply.header("Content-Encoding", "gzip");
      return reply
        .headers({ ...HEADERS, "Cache-Control": "no-cache", Vary: "Accept-Encoding" })
        .type(type)
        .send(isZipped ? zipped : plain);
    });
  serve("/reference", "text/html; charset=utf-8", async () => Buffer.from(PAGE));
  serve("/reference/start.js", CONTENT_TYPES.js, async () => Buffer.from(INIT));
  serve("/reference/page.css", CONTENT_TYPES.css, async () => Buffer.from(STYLE));
  for (const name of REFERENCE_FILES) {
    serve(`/reference/${name}`, CONTENT_TYPES[name.endsWith(".js") ? "js" : "css"], () =>
      readFile(join(filesFolder(), name)),
    );
  }
}

type Kept = { plain: Buffer; zipped: Buffer };

async function compress(plain: Buffer): Promise<Kept> {
  return { plain, zipped: await promisify(gzip)(plain) };
}

/** Beside the built program, or else as npm installed them. */
function filesFolder(): string {
  const built = join(import.meta.dirname, "..", "reference");
  if (existsSync(built)) return built;
  return dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
}
