/** `npm run release`: its archive and image run by themselves, and come out the same each time. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { makeSecrets, type Environment } from "../src/config.ts";
import { VERSION } from "../src/shared/version.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, sharedSettings, startProgram } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const root = dirname(import.meta.dirname);
const PLATFORM = `${process.platform}-${process.arch}`;
const NAME = `postern-${VERSION}-${PLATFORM}`;
/** Where a system has its own programs, and no Node of the checkout. */
const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
/** Links to them are for whoever has the checkout. */
const SOURCES = /^(\.|package\.json$|(src|portal|test|tools|bench|suites|migrations)\b)/;

/** Two releases take half a minute; a machine under load takes many times as long. */
const RELEASES = { timeout: 600_000 };

let folder: string;
let unpacked: string;
let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-releases-"));
  // One after the other, and from different places, so that neither time nor place can be what is the same.
  await release("first", root);
  await release("second", tmpdir());
  untar(join(folder, "first", `${NAME}.tar.gz`), folder);
  unpacked = join(folder, NAME);
  database = await createTestDatabase({ migrated: false });
  receiver = await startReceiver();
  env = { ...(await sharedSettings(database.url, receiver.caPem)), PATH: SYSTEM_PATH };
}, RELEASES);
after(async () => {
  await receiver.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function release(into: string, cwd: string): Promise<void> {
  const args = [join(root, "tools", "release.ts"), "--folder", join(folder, into)];
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  assert.deepEqual(await once(child, "exit"), [0, null]);
}

function untar(archive: string, into: string): void {
  const run = spawnSync("tar", ["-xf", archive, "-C", into], { encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
}

const digest = async (...path: string[]): Promise<string> =>
  createHash("sha256")
    .update(await readFile(join(folder, ...path)))
    .digest("hex");

describe("npm run release", () => {
  it("makes the same bytes twice, and their checksums", async () => {
    const names = (await readdir(join(folder, "first"))).sort();
    assert.ok(names.includes(`${NAME}.tar.gz`) && names.includes(`${NAME}.cdx.json`), names.join());
    assert.deepEqual((await readdir(join(folder, "second"))).sort(), names);
    const digests = await Promise.all(names.map((name) => digest("first", name)));
    assert.deepEqual(await Promise.all(names.map((name) => digest("second", name))), digests);
    const expected = names
      .map((name, index) => `${digests[index]}  ${name}`)
      .filter((line) => !line.endsWith(" SHA256SUMS"));
    const sums = await readFile(join(folder, "first", "SHA256SUMS"), "utf8");
    assert.deepEqual(sums.trim().split("\n").sort(), expected.sort());
  });

  it("names in the bill of materials and in the notices what the archive contains", async () => {
    const link = z.object({ url: z.url() });
    const component = z.object({
      externalReferences: z.array(link).optional(),
      name: z.string(),
      version: z.string(),
      hashes: z.array(z.object({})).min(1),
    });
    const bill = z
      .object({ bomFormat: z.literal("CycloneDX"), components: z.array(component) })
      .parse(JSON.parse(await readFile(join(unpacked, "sbom.cdx.json"), "utf8")));
    const names = new Set(bill.components.map(({ name }) => name));
    const refs = bill.components.map(({ name, version }) => `${name}@${version}`);
    assert.equal(new Set(refs).size, refs.length, "each once");
    for (const name of ["node", "fastify", "pg", "zod", "yaml"]) assert.ok(names.has(name), name);
    assert.ok(!names.has("esbuild") && !names.has("typescript"), "nothing of development");
    const notices = await readFile(join(unpacked, "NOTICES.txt"), "utf8");
    const unnamed = bill.components.filter(
      ({ name, version }) => name !== "node" && !notices.includes(`\n${name} ${version} (`),
    );
    assert.deepEqual(unnamed, []);
    assert.match(await readFile(join(unpacked, "node", "LICENSE"), "utf8"), /Node\.js/);
    assert.ok((await stat(join(unpacked, "deploy", "compose", "make-database.sh"))).mode & 0o100);
  });

  it("has every page that its pages link to, except source files", () => {
    const pages = globSync(["*.md", "docs/**/*.md"], { cwd: unpacked });
    assert.ok(pages.includes("README.md") && pages.includes("docs/how-to/replay-what-was-missed.md"));
    const missing = pages.flatMap((page) =>
      [...readFileSync(join(unpacked, page), "utf8").matchAll(/\]\((?!\w+:)([^)#\s]+)/g)]
        .map(([, target = ""]) => join(dirname(page), target))
        .filter((target) => !SOURCES.test(target) && !existsSync(join(unpacked, target)))
        .map((target) => `${page}: ${target}`),
    );
    assert.deepEqual(missing, []);
  });
});

describe("the archive", () => {
  it("runs from a link, with neither Node nor node_modules around", async () => {
    const link = join(folder, "postern");
    await symlink(join(unpacked, "bin", "postern"), link);
    const { output } = await runProgram(["--version"], { PATH: SYSTEM_PATH }, link);
    assert.equal(output.trim(), VERSION);
  });

  it("says in two lines that it needs a database", async () => {
    const settings = {
      ...makeSecrets(),
      PATH: SYSTEM_PATH,
      DATA_DIR: join(folder, "data"),
      LOG_LEVEL: "silent",
    };
    const { code, output } = await runProgram(["up"], settings, join(unpacked, "bin", "postern"));
    assert.equal(code, 1);
    assert.match(
      output,
      /^postern:\n {2}DATABASE_URL is not set, and no embedded database is installed for .*\n {2}Set DATABASE_URL to .*\n$/,
    );
  });

  it("starts Node as the program's first line does", async () => {
    const launcher = await readFile(join(unpacked, "bin", "postern"), "utf8");
    assert.deepEqual(
      startWords().filter((word) => !launcher.includes(` ${word}`)),
      [],
    );
  });

  it("migrates, checks itself and delivers over TLS", async () => {
    const main = join(unpacked, "bin", "postern");
    const program = await startProgram(["up"], env, main);
    const style = await program.call("GET", "/reference/swagger-ui.css", { as: null });
    assert.equal(style.status, 200);
    const { endpoint } = await createEndpoint(program, { url: receiver.url });
    const event = await publish(program);
    const [delivery] = await eventually(async () => {
      const found = await listDeliveries(program, endpoint.id, "?status=delivered");
      return found.length > 0 && found;
    });
    assert.equal(delivery?.event_id, event.id);
    const health = await runProgram(["health", "--ready", "--url", program.url], env, main);
    assert.equal(health.code, 0, health.output);
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  });
});

/** Variables and options of Node, as the program's first line has them. */
function startWords(): string[] {
  const [firstLine = ""] = readFileSync(join(root, "src/main.ts"), "utf8").split("\n");
  const words = firstLine.split(" ").filter((word) => /^(--|[A-Z_]+=)/.test(word));
  assert.ok(words.length > 1);
  return words;
}

/** Where a layout has a blob. */
const at = ({ digest: of }: { digest: string }): string => `blobs/${of.replace(":", "/")}`;

describe("the image", () => {
  const image = `${NAME}-image`;
  let layout: string;
  let rootfs: string;
  const json = async (path: string): Promise<unknown> =>
    JSON.parse(await readFile(join(layout, path), "utf8"));
  const descriptor = z.object({ digest: z.string(), size: z.number(), mediaType: z.string() });
  const manifestShape = z.object({ config: descriptor, layers: z.array(descriptor) });
  const configShape = z.object({
    config: z.object({
      Entrypoint: z.array(z.string()),
      Cmd: z.array(z.string()),
      User: z.string(),
      Env: z.array(z.string()),
    }),
    rootfs: z.object({ diff_ids: z.array(z.string()) }),
  });

  async function readLayout() {
    const index = z.object({ manifests: z.tuple([descriptor]) }).parse(await json("index.json"));
    const manifest = manifestShape.parse(await json(at(index.manifests[0])));
    const config = configShape.parse(await json(at(manifest.config)));
    return { blobs: [index.manifests[0], manifest.config, ...manifest.layers], manifest, config };
  }

  before(async () => {
    if (!(await readdir(join(folder, "first"))).includes(`${image}.tar`)) return;
    layout = await mkdtemp(join(folder, "layout-"));
    rootfs = await mkdtemp(join(folder, "rootfs-"));
    await chmod(rootfs, 0o755);
    untar(join(folder, "first", `${image}.tar`), layout);
    const { manifest } = await readLayout();
    for (const layer of manifest.layers) untar(join(layout, at(layer)), rootfs);
  });

  it("is a layout whose descriptors have the size and digest of their blobs", async (context) => {
    if (layout === undefined) return context.skip("DID NOT RUN: no image is made on this platform");
    assert.deepEqual(await json("oci-layout"), { imageLayoutVersion: "1.0.0" });
    const { blobs, manifest, config } = await readLayout();
    for (const blob of blobs) {
      const data = await readFile(join(layout, at(blob)));
      assert.equal(`sha256:${createHash("sha256").update(data).digest("hex")}`, blob.digest);
      assert.equal(data.length, blob.size);
    }
    assert.equal(config.rootfs.diff_ids.length, manifest.layers.length);
    const words = new Set([...config.config.Env, ...config.config.Entrypoint]);
    assert.deepEqual(
      startWords().filter((word) => !words.has(word)),
      [],
    );
  });

  it("runs as its user on a root that it cannot write to, and finds names", async (context) => {
    if (layout === undefined) return context.skip("DID NOT RUN: no image is made on this platform");
    if (process.getuid?.() !== 0) return context.skip("DID NOT RUN: only root may change its root folder");
    const { config } = await readLayout();
    // What an engine adds to every container.
    await writeFile(join(rootfs, "etc", "hosts"), "127.0.0.1 database.test\n");
    const url = new URL(database.url);
    url.hostname = "database.test";
    const caFile = join(rootfs, "etc", "receiver.pem");
    await writeFile(caFile, receiver.caPem);
    const settings: Environment = {
      ...env,
      ...Object.fromEntries(config.config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2))),
      HOST: "127.0.0.1",
      DATABASE_URL: url.href,
      NODE_EXTRA_CA_CERTS: "/etc/receiver.pem",
    };
    const contained = await writeContainer(rootfs, config.config.User);
    const program = await startProgram(
      [...config.config.Entrypoint, ...config.config.Cmd],
      settings,
      contained,
    );
    const { endpoint } = await createEndpoint(program, { url: receiver.url });
    await publish(program);
    await eventually(
      async () => (await listDeliveries(program, endpoint.id, "?status=delivered")).length === 1,
    );
    const health = ["postern", "health", "--ready", "--url", program.url];
    const { code, output } = await runProgram(health, settings, contained);
    assert.equal(code, 0, output);
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  });
});

/** A program that runs its arguments with `root` as its root, read-only but for /data, in a mount namespace of its own. */
async function writeContainer(itsRoot: string, user: string): Promise<string> {
  const file = join(folder, "contained");
  const script = `#!/bin/sh
export IMAGE_PATH="$PATH" PATH=${SYSTEM_PATH}
exec unshare --mount sh -c '
  mount --bind "${itsRoot}" "${itsRoot}" && mount -o remount,bind,ro "${itsRoot}" &&
  mount -t tmpfs -o uid=${user.split(":")[0]} tmpfs "${itsRoot}/data" || exit 1
  PATH="$IMAGE_PATH" exec /usr/sbin/chroot --userspec=${user} "${itsRoot}" "$@"' sh "$@"
`;
  await writeFile(file, script, { mode: 0o755 });
  return file;
}
