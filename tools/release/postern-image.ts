/** Postern's image: no shell, no package manager, a user without rights, and a folder that it may write to. */
import { VERSION } from "../../src/shared/version.ts";
import type { Start } from "../build.ts";
import { below, type ReleaseFile } from "./archive.ts";
import { makeImage, type Layer } from "./image.ts";
import { IMAGE_USER } from "./image-system.ts";

export type ImageParts = {
  system: readonly ReleaseFile[];
  node: readonly ReleaseFile[];
  program: readonly ReleaseFile[];
  start: Start;
};

const HOME = "opt/postern";
const DATA = "/data";
const LABELS = {
  "org.opencontainers.image.title": "postern",
  "org.opencontainers.image.version": VERSION,
  "org.opencontainers.image.licenses": "MIT",
};

/** The files of an image layout for this machine's architecture. */
export async function posternImage(parts: ImageParts, epochSeconds: number): Promise<ReleaseFile[]> {
  const node = `/${HOME}/node/bin/node`;
  const main = `/${HOME}/dist/main.mjs`;
  // For `postern health` and other commands in a running container: there is no shell to run bin/postern.
  const command = {
    path: "usr/local/bin/postern",
    data: `#!${node}\nawait import("${main}");\n`,
    isExecutable: true,
  };
  const layers: Layer[] = [
    {
      files: parts.system,
      ownedFolders: [
        { path: "data", owner: IMAGE_USER },
        { path: "tmp", owner: IMAGE_USER },
      ],
      comment: "C library, authorities, user",
    },
    { files: below(HOME, parts.node), comment: "Node" },
    { files: [...below(HOME, parts.program), command], comment: `Postern ${VERSION}` },
  ];
  return makeImage(layers, {
    arch: process.arch,
    name: `postern:${VERSION}`,
    epochSeconds,
    config: {
      User: `${IMAGE_USER}:${IMAGE_USER}`,
      Env: [
        "PATH=/usr/local/bin",
        "NODE_ENV=production",
        "HOST=0.0.0.0",
        `DATA_DIR=${DATA}`,
        ...parts.start.environment,
      ],
      Entrypoint: [node, ...parts.start.nodeOptions, main],
      Cmd: ["up"],
      ExposedPorts: { "8080/tcp": {} },
      Volumes: { [DATA]: {} },
      WorkingDir: DATA,
      StopSignal: "SIGTERM",
      Labels: LABELS,
    },
  });
}
