/**
 * `npm run build`: the program as a few files of JavaScript in `dist/`.
 *
 * Node runs the sources as they are, but not beneath `node_modules`, and a
 * process of the bundle starts sooner and holds about 25 MiB less: no compiler
 * for types, no thousand modules. Migrations are read from `migrations/`, and
 * the embedded database's binaries from `node_modules/`, as with the sources.
 */
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { REFERENCE_FILES } from "../src/api/routes/reference.ts";
import { NEEDED_NODE } from "../src/shared/version.ts";

const root = dirname(import.meta.dirname);

/** Builds into `dist/`, in place of what is there. Throws when a module cannot be resolved. Answers the program's path. */
export async function buildProgram(): Promise<string> {
  const folder = join(root, "dist");
  await rm(folder, { recursive: true, force: true });
  await build({
    entryPoints: [join(root, "src", "main.ts")],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    // As deep as src/cli, so that ../../migrations is the same folder.
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node24",
    // Names stay, for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    // CommonJS packages call require, which a module does not have.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
    // pg asks for it and does without.
    external: ["pg-native"],
    logLevel: "warning",
  });
  await copyReference(folder);
  const program = join(folder, "postern");
  await writeFile(program, await launcher(join(folder, "main.mjs")), { mode: 0o755 });
  return program;
}

/** The files of the page `/reference`, with their licence, which says that it goes along. */
async function copyReference(folder: string): Promise<void> {
  const origin = join(root, "node_modules", "swagger-ui-dist");
  await mkdir(join(folder, "reference"));
  for (const name of [...REFERENCE_FILES, "LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"]) {
    await copyFile(join(origin, name), join(folder, "reference", name));
  }
}

/** Looks at Node before anything is imported: an older one can't even parse the program. */
async function launcher(main: string): Promise<string> {
  const [shebang = "", ...lines] = (await readFile(main, "utf8")).split("\n");
  await writeFile(main, lines.join("\n"));
  return `${shebang}
if (Number.parseInt(process.versions.node, 10) < ${NEEDED_NODE}) {
  console.error("postern needs Node ${NEEDED_NODE} or newer, and this is Node " + process.versions.node + " (" + process.execPath + ").");
  console.error("Put a newer one first on the PATH, or start Postern through npm, which brings its own.");
  process.exit(1);
}
await import("./main.mjs");
`;
}

if (import.meta.main) console.log(`Built ${await buildProgram()}`);
