/** A refusal of the API that its document does not name is a fault of the document, or of the route. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

const OPENAPI = join(import.meta.dirname, "..", "..", "docs", "openapi.json");

const refusal = z.object({ error: z.string() });
const media = z.object({
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.unknown()).optional(),
});
const answer = z.object({ content: z.record(z.string(), media).optional() });
const operation = z.object({ responses: z.record(z.string(), answer) });
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ examples: z.record(z.string(), z.object({ value: refusal })) }),
});

type Operation = { method: string; path: RegExp; refusals: ReadonlySet<string> };
let operations: readonly Operation[] | null = null;

/** Throws where the operation that was called, if it is one, has no such refusal. */
export function requireDocumented(
  method: string,
  path: string,
  { status, body }: { status: number; body: unknown },
): void {
  const refused = refusal.safeParse(body);
  if (status < 400 || !refused.success) return;
  const [pathname = ""] = path.split("?");
  operations ??= readOperations();
  const called = operations.find((one) => one.method === method && one.path.test(pathname));
  const said = `${status} ${refused.data.error}`;
  if (called !== undefined && !called.refusals.has(said))
    throw new Error(`${method} ${pathname} answers ${said}, which docs/openapi.json does not name`);
}

function readOperations(): Operation[] {
  const { paths, components } = documentSchema.parse(JSON.parse(readFileSync(OPENAPI, "utf8")));
  const shownIn = ({ example, examples = {} }: z.infer<typeof media>) =>
    [example, ...Object.keys(examples).map((code) => components.examples[code]?.value)].flatMap((value) => {
      const shown = refusal.safeParse(value);
      return shown.success ? [shown.data.error] : [];
    });
  return (
    Object.entries(paths)
      // A fixed path is none with a parameter in its place.
      .toSorted(([one], [other]) => one.split("{").length - other.split("{").length)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { responses }]) => ({
          method: method.toUpperCase(),
          path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
          refusals: new Set(
            Object.entries(responses).flatMap(([status, { content = {} }]) =>
              Object.values(content)
                .flatMap(shownIn)
                .map((error) => `${status} ${error}`),
            ),
          ),
        })),
      )
  );
}
