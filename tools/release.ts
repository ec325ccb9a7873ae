/**
 * `npm run release`: what is published of a version, in `release/`.
 *
 * An archive for each platform that runs on nothing but itself, an image for
 * containers, their bills of materials, and SHA256SUMS. Without `--all` it makes
 * this machine's platform alone, and asks no network. The same checkout and
 * dependencies give the same bytes; SOURCE_DATE_EPOCH is the time of all files,
 * by default that of the newest commit.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { VERSION } from "../src/shared/version.ts";
import { bundleInto } from "./build.ts";
import { below, compress, packFiles, type ReleaseFile } from "./release/archive.ts";
import { commonFiles, launcherFile, nodeFiles } from "./release/contents.ts";
import { libraryComponents, systemFiles } from "./release/image-system.ts";
import { posternImage } from "./release/postern-image.ts";
import {
  chosenPackages,
  fetchedNode,
  installedNode,
  nodePackages,
  type NodePackage,
} from "./release/node-binary.ts";
import { readPackages, writeNotices } from "./release/notices.ts";
import { ReleaseError } from "./release/release-error.ts";
import { askNpm, writeSbom } from "./release/sbom.ts";

const root = dirname(import.meta.dirname);
const HERE = `${process.platform}-${process.arch}`;
/** What a container needs of an archive: no shell is there to run bin/postern, nobody to read the pages. */
const IN_IMAGE = /^(dist|migrations)\/|^(LICENSE|NOTICES\.txt)$/;

type ReleaseOptions = { folder: string; all: boolean; epochSeconds: number };

/** Makes the release in `folder`, in place of what is there. Answers the names of its files. */
async function makeRelease({ folder, all, epochSeconds }: ReleaseOptions): Promise<string[]> {
  const wanted = chosenPackages(await nodePackages(root), { all, here: HERE });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const program = await prepareProgram();
  const made: Product[] = [];
  for (const one of wanted) {
    const node = nodeFiles(await nodeOf(one));
    made.push(...(await makeArchive(program, one, node, epochSeconds)));
    if (one.platform === HERE) made.push(...(await makeImageOf(program, one, node, epochSeconds)));
  }
  const sums = made.map(
    ({ name, bytes }) => `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`,
  );
  made.push({ name: "SHA256SUMS", bytes: Buffer.from(sums.join("")) });
  for (const { name, bytes } of made) await writeFile(join(folder, name), bytes);
  return made.map(({ name }) => name);
}

type Product = { name: string; bytes: Uint8Array };
type Program = Awaited<ReturnType<typeof prepareProgram>>;

async function makeArchive(
  { files, packages, npm }: Program,
  one: NodePackage,
  node: ReleaseFile[],
  epochSeconds: number,
): Promise<Product[]> {
  const name = `postern-${VERSION}-${one.platform}`;
  const sbom = writeSbom(npm, { packages, node: one }, { version: VERSION, epochSeconds });
  const all = [...files, ...node, { path: "sbom.cdx.json", data: sbom }];
  return [
    { name: `${name}.tar.gz`, bytes: compress(await packFiles(below(name, all), epochSeconds)) },
    { name: `${name}.cdx.json`, bytes: Buffer.from(sbom) },
  ];
}

/** None where this system has no C library that could go with it. */
async function makeImageOf(
  { files, packages, npm, start }: Program,
  one: NodePackage,
  node: ReleaseFile[],
  epochSeconds: number,
): Promise<Product[]> {
  const system = await systemFiles(join(root, "node_modules", one.name, "bin", "node"));
  if (system === null) {
    console.error(
      `No image for ${one.platform}: it is made on a Linux with glibc, whose libraries it takes.`,
    );
    return [];
  }
  const name = `postern-${VERSION}-${one.platform}-image`;
  const contents = { packages, node: one, others: libraryComponents(system) };
  const sbom = writeSbom(npm, contents, { version: VERSION, epochSeconds });
  const program = [...files.filter(({ path }) => IN_IMAGE.test(path)), { path: "sbom.cdx.json", data: sbom }];
  const layout = await posternImage({ system, node, start, program }, epochSeconds);
  return [
    { name: `${name}.tar`, bytes: await packFiles(layout, epochSeconds) },
    { name: `${name}.cdx.json`, bytes: Buffer.from(sbom) },
  ];
}

/** What every platform has in common. */
async function prepareProgram() {
  const folder = await mkdtemp(join(tmpdir(), "postern-release-"));
  try {
    const bundle = await bundleInto(join(folder, "dist"));
    const packages = await readPackages(root, bundle.packages);
    const files: ReleaseFile[] = [
      ...(await commonFiles(root, join(folder, "dist"))),
      launcherFile(bundle.start),
      { path: "NOTICES.txt", data: await writeNotices(root, packages) },
    ];
    return { files, packages, npm: askNpm([root, join(root, "portal")]), start: bundle.start };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function nodeOf(one: NodePackage) {
  return one.platform === HERE ? installedNode(root, one) : fetchedNode(one);
}

/** Throws where neither the environment nor git tells a time. */
function sourceEpochSeconds(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  const text =
    given ?? spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }).stdout;
  if (!/^[0-9]{1,11}\s*$/.test(text ?? "")) {
    throw new ReleaseError(
      "Set SOURCE_DATE_EPOCH to the time of the sources, in seconds: git does not tell it here.",
    );
  }
  return Number(text);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      all: { type: "boolean", default: false },
      folder: { type: "string", default: join(root, "release") },
    },
  });
  try {
    const names = await makeRelease({ ...values, epochSeconds: sourceEpochSeconds() });
    for (const name of names) console.log(join(values.folder, name));
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
