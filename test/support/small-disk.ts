/** A disk of a few hundred megabytes that a test fills: a file system in memory, which only root may mount. */
import { execFile, execFileSync } from "node:child_process";
import { rmdirSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasCode } from "../../src/shared/error-code.ts";

const BLOCK = Buffer.alloc(64 * 1024);

export type SmallDisk = {
  folder: string;
  /** Leaves no room on it, also where it was filled before. */
  fill(): Promise<void>;
  /** Gives back what {@link SmallDisk.fill} took. */
  free(): Promise<void>;
  /** Read-only, or as before. */
  remount(as: "ro" | "rw"): Promise<void>;
  unmount(): Promise<void>;
};

const run = promisify(execFile);
const mounted = new Set<string>();
// A test that fails must not leave its disks behind.
process.once("exit", () => {
  for (const folder of mounted) {
    execFileSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
  }
});

/** Null where this user may not mount one. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | null> {
  const folder = await mkdtemp(join(tmpdir(), "postern-disk-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", folder]);
  } catch {
    await rm(folder, { recursive: true });
    return null;
  }
  mounted.add(folder);
  const filler = join(folder, "filler");
  return {
    folder,
    async fill() {
      const file = await open(filler, "a");
      try {
        for (;;) await file.write(BLOCK);
      } catch (error) {
        if (!hasCode(error, "ENOSPC")) throw error;
      } finally {
        await file.close();
      }
    },
    free: () => rm(filler),
    async remount(as) {
      await run("mount", ["-o", `remount,${as}`, folder]);
    },
    async unmount() {
      await run("umount", ["--lazy", folder]);
      mounted.delete(folder);
      await rm(folder, { recursive: true });
    },
  };
}
