/**
 * What the image needs below the program: the C library that Node is linked
 * against, certificate authorities, and a user.
 *
 * The libraries are this machine's, so an image is made for its platform alone,
 * and has the same bytes only where they have.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";
import type { ReleaseFile } from "./archive.ts";
import type { Component } from "./sbom.ts";

/** As a user that no other container or service has by default. */
export const IMAGE_USER = 65_532;

// Loaded by name while the program runs, so ldd does not tell of them.
const NAME_SERVICES = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];
const LIBRARY = /^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/;

const TEXTS: Record<string, string> = {
  "etc/passwd": `root:x:0:0:root:/:/sbin/nologin\npostern:x:${IMAGE_USER}:${IMAGE_USER}:postern:/data:/sbin/nologin\n`,
  "etc/group": `root:x:0:\npostern:x:${IMAGE_USER}:\n`,
  "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** Null where Node is not linked as on a Linux with glibc: then no image can be made here. */
export async function systemFiles(nodeBinary: string): Promise<ReleaseFile[] | null> {
  if (process.platform !== "linux") return null;
  const run = spawnSync("ldd", [nodeBinary], { encoding: "utf8" });
  if (run.status !== 0) return null;
  const linked = run.stdout.split("\n").flatMap((line) => LIBRARY.exec(line)?.[1] ?? []);
  const libc = linked.find((path) => path.endsWith("/libc.so.6"));
  if (libc === undefined) return null;
  const services = NAME_SERVICES.map((name) => join(dirname(libc), name)).filter((path) => existsSync(path));
  const libraries = await Promise.all(
    [...new Set([...linked, ...services])].map(async (path) => ({
      path: path.slice(1),
      data: await readFile(path),
      isExecutable: true,
    })),
  );
  const texts = Object.entries(TEXTS).map(([path, data]) => ({ path, data }));
  // Those that Node has built in, for programs and settings that want a file.
  const authorities = { path: "etc/ssl/certs/ca-certificates.crt", data: `${rootCertificates.join("\n")}\n` };
  return [...libraries, ...texts, authorities];
}

/** The libraries, for the bill of materials. */
export function libraryComponents(files: readonly ReleaseFile[]): Component[] {
  return files
    .filter(({ path }) => /\.so(\.|$)/.test(path))
    .map(({ path, data }) => ({
      "bom-ref": `/${path}`,
      type: "file",
      name: `/${path}`,
      hashes: [{ alg: "SHA-256", content: createHash("sha256").update(data).digest("hex") }],
    }));
}
