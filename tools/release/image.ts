/**
 * An image for containers as an OCI image layout in one tar, made without a
 * container engine: https://github.com/opencontainers/image-spec.
 *
 * `manifest.json` beside the layout is for `docker load`, which reads nothing
 * else where Docker does not keep its images in containerd.
 */
import { createHash } from "node:crypto";
import { compress, type OwnedFolder, packFiles, type ReleaseFile } from "./archive.ts";

export type Layer = { files: readonly ReleaseFile[]; ownedFolders?: readonly OwnedFolder[]; comment: string };

export type ImageOptions = {
  /** Node's name of it, such as `x64`. */
  arch: string;
  /** Such as `postern:1.2.3`. */
  name: string;
  epochSeconds: number;
  /** The member `config` of the image's configuration. */
  config: Record<string, unknown>;
};

const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64" };
const MEDIA = "application/vnd.oci.image";

type Blob = { path: string; data: Uint8Array; digest: string };

/** The layout's files, layers from the bottom up. */
export async function makeImage(layers: readonly Layer[], options: ImageOptions): Promise<ReleaseFile[]> {
  const { arch, name, epochSeconds } = options;
  const packed = await Promise.all(
    layers.map(async ({ files, ownedFolders, comment }) => {
      const tar = await packFiles(files, epochSeconds, ownedFolders);
      return { blob: blobOf(compress(tar)), diffId: digestOf(tar), comment };
    }),
  );
  const created = new Date(epochSeconds * 1000).toISOString().replace(".000Z", "Z");
  const architecture = ARCHITECTURES[arch] ?? arch;
  const config = jsonBlob({
    created,
    architecture,
    os: "linux",
    config: options.config,
    rootfs: { type: "layers", diff_ids: packed.map(({ diffId }) => diffId) },
    history: packed.map(({ comment }) => ({ created, created_by: "npm run release", comment })),
  });
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: descriptor(config, "config.v1+json"),
    layers: packed.map(({ blob }) => descriptor(blob, "layer.v1.tar+gzip")),
  });
  const index = {
    schemaVersion: 2,
    mediaType: `${MEDIA}.index.v1+json`,
    manifests: [
      {
        ...descriptor(manifest, "manifest.v1+json"),
        platform: { architecture, os: "linux" },
        annotations: {
          "io.containerd.image.name": `docker.io/library/${name}`,
          "org.opencontainers.image.ref.name": name.slice(name.indexOf(":") + 1),
        },
      },
    ],
  };
  const layerPaths = packed.map(({ blob }) => blob.path);
  return [
    { path: "oci-layout", data: JSON.stringify({ imageLayoutVersion: "1.0.0" }) },
    { path: "index.json", data: JSON.stringify(index) },
    {
      path: "manifest.json",
      data: JSON.stringify([{ Config: config.path, RepoTags: [name], Layers: layerPaths }]),
    },
    ...[config, manifest, ...packed.map(({ blob }) => blob)].map(({ path, data }) => ({ path, data })),
  ];
}

function descriptor({ data, digest }: Blob, type: string) {
  return { mediaType: `${MEDIA}.${type}`, digest, size: data.byteLength };
}

function jsonBlob(value: unknown): Blob {
  return blobOf(Buffer.from(JSON.stringify(value)));
}

function blobOf(data: Uint8Array): Blob {
  const digest = digestOf(data);
  return { path: `blobs/${digest.replace(":", "/")}`, data, digest };
}

function digestOf(data: Uint8Array): string {
  return `sha256:${createHash("sha256").update(data).digest("hex")}`;
}
