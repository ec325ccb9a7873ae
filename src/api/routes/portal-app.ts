/**
 * The portal as browsers load it: one page for every path under `/portal`, and
 * its assets, which `npm run build` and `npm start` build from `portal/`.
 *
 * The page may load and call this origin alone. Nothing inline runs, no text
 * becomes markup (Trusted Types), and only the operator's pages may frame it.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fastifyStatic } from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { hasCode } from "../../shared/error-code.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { ApiServices } from "../services.ts";

const ASSET_HEADERS = {
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
} as const;

const NOT_BUILT = "The portal is not built. Run npm run portal, or npm start, which builds it.\n";
/** As in portal/index.html. */
const BASE = '<base href="/portal/" />';

/** Assets have their hash in their name, and lie there compressed. */
export async function servePortalFiles(app: FastifyInstance): Promise<void> {
  await app.register(fastifyStatic, {
    root: join(builtFolder(), "assets"),
    serve: false,
    preCompressed: true,
    immutable: true,
    maxAge: "365d",
    index: false,
    dotfiles: "deny",
    setHeaders: (reply) => void reply.headers(ASSET_HEADERS),
  });
}

/** Call `servePortalFiles` first. */
export function portalAppRoutes(
  app: FastifyInstance,
  { portalFrameAncestors }: Pick<ApiServices, "portalFrameAncestors">,
  basePath: string,
): void {
  const headers = pageHeaders(portalFrameAncestors);
  const hide = { schema: { hide: true } };
  const servePage = (url: string) =>
    app.get(url, hide, async (_request, reply) => {
      const page = await readPage(basePath);
      if (page === null) return reply.code(404).type("text/plain; charset=utf-8").send(NOT_BUILT);
      return reply.headers(headers).type("text/html; charset=utf-8").send(page);
    });
  servePage("/");
  // The app itself says which of its pages there are.
  servePage("/*");
  app.get<{ Params: { "*": string } }>("/assets/*", hide, (request, reply) => {
    const name = request.params["*"];
    if (!/^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/.test(name)) throw new Refusal("not_found");
    return reply.sendFile(name);
  });
}

function pageHeaders(frameAncestors: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ")}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
}

/** Null where nothing is built. Read anew for each request, so that a new build is seen at once. */
async function readPage(basePath: string): Promise<string | null> {
  try {
    const page = await readFile(join(builtFolder(), "index.html"), "utf8");
    return page.replace(BASE, `<base href="${basePath}/portal/" />`);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

/** Beside the built program, or else in the checkout. */
function builtFolder(): string {
  const built = join(import.meta.dirname, "..", "portal");
  if (existsSync(join(built, "assets"))) return built;
  return join(import.meta.dirname, "..", "..", "..", "portal", "dist");
}
