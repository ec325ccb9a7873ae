/**
 * `npm run build`: the program as a few files of JavaScript in `dist/`.
 *
 * Node runs the sources as they are, but not beneath `node_modules`, and a
 * process of the bundle starts sooner and holds about 25 MiB less: no compiler
 * for types, no thousand modules. Migrations are read from `migrations/`, and
 * the embedded database's binaries from `node_modules/`, as with the sources.
 */
import { chmod, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "esbuild";

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
  const program = join(folder, "postern");
  await rename(join(folder, "main.mjs"), program);
  await chmod(program, 0o755);
  return program;
}

if (import.meta.main) console.log(`Built ${await buildProgram()}`);
