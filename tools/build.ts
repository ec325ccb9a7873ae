/**
 * `npm run build`: the program as a few files of JavaScript in `dist/`.
 *
 * Node runs the sources as they are, but not beneath `node_modules`, and a
 * process of the bundle starts sooner and holds about 25 MiB less: no compiler
 * for types, no thousand modules. Migrations are read from `migrations/`, and
 * the embedded database's binaries from `node_modules/`, as with the sources.
 * The portal is built into it too.
 */
import { copyFile, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build, type Metafile } from "esbuild";
import { REFERENCE_FILES } from "../src/api/routes/reference.ts";
import { NEEDED_NODE } from "../src/shared/version.ts";
import { bundledAssert } from "./bundled-assert.ts";
import { buildPortal, portalPackages } from "./portal.ts";

const root = dirname(import.meta.dirname);
const MODULES = "node_modules/";
/** The package of the page `/reference`, of which files are copied and nothing is bundled. */
const REFERENCE = "node_modules/swagger-ui-dist";

/** How a process that serves is started. */
export type Start = {
  /** Variables of its environment, as `NAME=value`. */
  environment: readonly string[];
  nodeOptions: readonly string[];
};

export type Bundle = {
  /** The module to run. */
  main: string;
  start: Start;
  /** The folder of each package that is part of it, relative to the checkout, sorted. */
  packages: string[];
};

/**
 * Builds into `dist/`, or another folder beside it, in place of what is there. Throws when a module cannot be resolved.
 * Answers the program's path.
 */
export async function buildProgram(folder = join(root, "dist")): Promise<string> {
  const { start } = await bundleInto(folder);
  const program = join(folder, "postern");
  await writeFile(program, launcher(start), { mode: 0o755 });
  return program;
}

/** Bundles the program into `folder`, in place of what is there. The same sources give the same bytes. */
export async function bundleInto(folder: string): Promise<Bundle> {
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build({
    // Module paths are part of names and hashes: they must not depend on where the checkout is.
    absWorkingDir: root,
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
    // Of an error that nothing catches Node prints the line first: one of megabytes fills a pipe, and the error is lost.
    lineLimit: 200,
    // CommonJS packages call require, which a module does not have.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
    // pg asks for it and does without.
    external: ["pg-native"],
    // Beside each file: with one letter beyond ASCII in them, Node holds two bytes for each letter of the file.
    legalComments: "external",
    plugins: [bundledAssert],
    logLevel: "warning",
    metafile: true,
  });
  await copyReference(folder);
  await copyPortal(folder);
  const main = join(folder, "main.mjs");
  return {
    main,
    start: await takeShebang(main),
    packages: [...packagesIn(metafile), REFERENCE, ...(await portalPackages())].sort(),
  };
}

/** Removes the program's first line, and answers how it starts Node. */
async function takeShebang(main: string): Promise<Start> {
  const [shebang = "", ...lines] = (await readFile(main, "utf8")).split("\n");
  await writeFile(main, lines.join("\n"));
  const words = shebang.split(" ");
  return {
    environment: words.filter((word) => /^[A-Z_]+=/.test(word)),
    nodeOptions: words.filter((word) => word.startsWith("--")),
  };
}

function packagesIn({ outputs }: Metafile): string[] {
  const modules = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = modules
    .filter((path) => path.includes(MODULES))
    .map((path) => {
      const start = path.lastIndexOf(MODULES) + MODULES.length;
      const [scope = "", name = ""] = path.slice(start).split("/");
      return path.slice(0, start) + (scope.startsWith("@") ? `${scope}/${name}` : scope);
    });
  return [...new Set(folders)].sort();
}

/** The files of the page `/reference`, with their licence, which says that it goes along. */
async function copyReference(folder: string): Promise<void> {
  const origin = join(root, REFERENCE);
  await mkdir(join(folder, "reference"));
  for (const name of [...REFERENCE_FILES, "LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"]) {
    await copyFile(join(origin, name), join(folder, "reference", name));
  }
}

/** The page of the portal and its assets, not what the build says of itself. */
async function copyPortal(folder: string): Promise<void> {
  const built = await buildPortal(console.log);
  for (const name of ["index.html", "assets"]) {
    await cp(join(built, name), join(folder, "portal", name), { recursive: true });
  }
}

/** Looks at Node before anything is imported: an older one can't even parse the program. */
function launcher({ environment, nodeOptions }: Start): string {
  return `#!/usr/bin/env -S ${[...environment, "node", ...nodeOptions].join(" ")}
if (Number.parseInt(process.versions.node, 10) < ${NEEDED_NODE}) {
  console.error("postern needs Node ${NEEDED_NODE} or newer, and this is Node " + process.versions.node + " (" + process.execPath + ").");
  console.error("Put a newer one first on the PATH, or start Postern through npm, which brings its own.");
  process.exit(1);
}
await import("./main.mjs");
`;
}

if (import.meta.main) console.log(`Built ${await buildProgram()}`);
