/** What is installed with Postern: named with its reason, fixed by hash, and without scripts that run at install. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import * as z from "zod";

const root = dirname(import.meta.dirname);
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const versions = z.record(z.string(), z.string());
const manifest = z
  .object({ dependencies: versions, optionalDependencies: versions, devDependencies: versions })
  .parse(JSON.parse(read("package.json")));
/** The oldest PostgreSQL, which `npm test` alone installs. */
const oldest = z
  .object({ optionalDependencies: versions })
  .parse(JSON.parse(read("test/postgres-15/package.json")));
/** What reads the OpenAPI document, which `npm test` alone installs too. */
const readers = z
  .object({ devDependencies: versions })
  .parse(JSON.parse(read("test/api-tools/package.json")));
/** What judges the portal in `bench/portal.ts`, which alone installs it. */
const judge = z
  .object({ devDependencies: versions })
  .parse(JSON.parse(read("bench/lighthouse/package.json")));
/** What `npm run mutate` alone installs. */
const mutation = z
  .object({ devDependencies: versions })
  .parse(JSON.parse(read("test/mutation/package.json")));
/** What the built portal consists of, what builds it, and what tests it. */
const portal = z
  .object({ dependencies: versions, devDependencies: versions })
  .parse(JSON.parse(read("portal/package.json")));
const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});
const lockfiles = [
  "package-lock.json",
  "test/postgres-15/package-lock.json",
  "test/api-tools/package-lock.json",
  "test/mutation/package-lock.json",
  "portal/package-lock.json",
  "bench/lighthouse/package-lock.json",
];
const locked = lockfiles.flatMap((file) => Object.entries(lockfile.parse(JSON.parse(read(file))).packages));

/** Packages by the section of docs/dependencies.md that names them, each with a reason. */
function listed(heading: string): string[] {
  const page = read("docs/dependencies.md");
  const [, section = ""] = page.split(`${heading}\n`);
  return [...(section.split(/^##/m)[0] ?? "").matchAll(/^\| `([^`]+)` \| [^|]*\w[^|]* \|/gm)].map(
    ([, name]) => name ?? "",
  );
}

describe("docs/dependencies.md", () => {
  const sections = {
    "## In production": manifest.dependencies,
    "### By platform": manifest.optionalDependencies,
    "### In the portal": portal.dependencies,
    "## For development": manifest.devDependencies,
    "### For the tests alone": {
      ...oldest.optionalDependencies,
      ...readers.devDependencies,
      ...mutation.devDependencies,
      ...portal.devDependencies,
      ...judge.devDependencies,
    },
  };
  for (const [heading, packages] of Object.entries(sections)) {
    it(`names each package of its kind with a reason, and no other: ${heading.replaceAll("#", "").trim()}`, () => {
      assert.deepEqual(listed(heading).sort(), Object.keys(packages).sort());
    });
  }
});

describe("package.json", () => {
  it("names one exact version of each package", () => {
    const loose = [
      ...Object.values(manifest),
      oldest.optionalDependencies,
      readers.devDependencies,
      judge.devDependencies,
      mutation.devDependencies,
      ...Object.values(portal),
    ]
      .flatMap((packages) => Object.entries(packages))
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/.test(version));
    assert.deepEqual(loose, []);
  });
});

describe("a lockfile", () => {
  const packages = locked.filter(([path]) => path !== "");

  it("has the SHA-512 of every package", () => {
    assert.ok(packages.length > 100);
    const without = packages.filter(
      ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""),
    );
    assert.deepEqual(without, []);
  });

  it("leaves open which registry serves them, and takes none from elsewhere", () => {
    const bound = packages.filter(([, { resolved, link }]) => resolved !== undefined || link === true);
    assert.deepEqual(bound, []);
  });
});

describe("an installation", () => {
  it("meets install scripts of those packages alone that the page names with what they do", () => {
    const [, sentence = ""] =
      /Some packages have such scripts: (.*)/.exec(read("docs/dependencies.md")) ?? [];
    const named = [...sentence.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    const withScript = locked
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
    assert.ok(withScript.length > 0);
    assert.deepEqual(named.sort(), [...new Set(withScript)].sort());
  });

  it("runs no install script, wherever the project installs", () => {
    const files = [
      "tools/*.{mjs,ts}",
      "test/support/*.ts",
      ".devcontainer/*.json",
      ".ci/*",
      ".github/**/*.yml",
      "*.md",
      "docs/**/*.md",
    ];
    const lines = globSync(files, { cwd: root }).flatMap((file) =>
      read(file)
        .split("\n")
        .filter(
          (line) =>
            /\bnpm (ci|install)\b|"npm", \["ci"/.test(line) &&
            /^\s*(npm|"postCreate|const result|run:|RUN)/.test(line),
        )
        .map((line) => ({ file, line })),
    );
    assert.ok(lines.length >= 3, "tools/install.mjs, the tests and the dev container install");
    assert.deepEqual(
      lines.filter(({ line }) => !line.includes("--ignore-scripts")),
      [],
    );
  });
});
