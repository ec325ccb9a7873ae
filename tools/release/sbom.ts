/**
 * The software bill of materials: what `npm sbom` says of the bundle's
 * packages, and Node. Packages that are installed but not bundled are left out.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { v5 as uuidFromName } from "uuid";
import * as z from "zod";
import type { NodePackage } from "./node-binary.ts";
import type { BundledPackage } from "./notices.ts";
import { ReleaseError } from "./release-error.ts";

// Any one; it keeps the serial numbers of this program's documents apart from others'.
const NAMESPACE = "0c1f4c6e-6a53-4d0c-9a3f-5f1d3c0a7e52";

const component = z.looseObject({
  "bom-ref": z.string(),
  name: z.string(),
  version: z.string().optional(),
  // npm passes on whatever a package has there, such as git's short form, which is no URL.
  externalReferences: z
    .array(z.looseObject({ url: z.string() }))
    .transform((references) => references.filter(({ url }) => URL.canParse(url)))
    .optional(),
});
const npmDocument = z.looseObject({
  metadata: z.looseObject({ component }),
  components: z.array(component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
});

export type Component = z.infer<typeof component>;
/** As npm describes everything that is installed. */
export type NpmDocument = z.infer<typeof npmDocument>;

/** Of several folders with packages of their own, as one document about the first. */
export function askNpm(folders: readonly [string, ...string[]]): NpmDocument {
  const [first, ...others] = folders;
  const document = askNpmOf(first);
  for (const { components, dependencies } of others.map(askNpmOf)) {
    const known = new Set(document.components.map((one) => one["bom-ref"]));
    document.components.push(...components.filter((one) => !known.has(one["bom-ref"])));
    document.dependencies.push(...dependencies.filter(({ ref }) => !known.has(ref)));
  }
  return document;
}

function askNpmOf(root: string): NpmDocument {
  // Not with --omit dev: npm then also leaves out packages that production and development share.
  const args = ["sbom", "--sbom-format", "cyclonedx"];
  const run = spawnSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (run.status !== 0) {
    throw new ReleaseError(`npm sbom failed in ${root}: ${run.error?.message ?? run.stderr.trim()}`);
  }
  return npmDocument.parse(JSON.parse(run.stdout));
}

/** Throws if npm does not know a package of the bundle. */
export function writeSbom(
  document: NpmDocument,
  contents: { packages: readonly BundledPackage[]; node: NodePackage; others?: readonly Component[] },
  { version, epochSeconds }: { version: string; epochSeconds: number },
): string {
  const { packages, node, others = [] } = contents;
  const bundled = packages.map(({ name, version: itsVersion }) => {
    const found = document.components.find((one) => one.name === name && one.version === itsVersion);
    if (found === undefined)
      throw new Error(`npm sbom does not name ${name}@${itsVersion}, which is bundled`);
    return found;
  });
  // A package may be installed, and bundled, at two places.
  const components = [...new Set([...bundled, nodeComponent(node), ...others])];
  const own = `postern@${version}`;
  const refs = new Set([own, ...components.map((one) => one["bom-ref"])]);
  const content = {
    metadata: {
      timestamp: new Date(epochSeconds * 1000).toISOString(),
      lifecycles: [{ phase: "build" }],
      // npm names the folder of the checkout.
      component: { ...document.metadata.component, "bom-ref": own, type: "application", name: "postern" },
    },
    components,
    dependencies: document.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  };
  const digest = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const head = {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: `urn:uuid:${uuidFromName(digest, NAMESPACE)}`,
    version: 1,
  };
  return `${JSON.stringify({ ...head, ...content }, null, 2)}\n`;
}

function nodeComponent({ name, version, sha512 }: NodePackage): Component {
  return {
    "bom-ref": `${name}@${version}`,
    type: "application",
    name: "node",
    version,
    purl: `pkg:npm/${name}@${version}`,
    hashes: [{ alg: "SHA-512", content: sha512.toString("hex") }],
    licenses: [{ license: { id: "MIT" } }],
  };
}
