/** Data that earlier releases left, in test/releases, and those releases' programs, from the clone's history. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { folderOf, prepareTool, type Tell, type Tool } from "./prepared-tool.ts";

const ROOT = join(import.meta.dirname, "..", "..");
export const RELEASES = join(ROOT, "test", "releases");

/** What a release's `release.json` says of the data beside it; tools/release-data.ts writes it. */
export const releaseShape = z.object({
  version: z.string(),
  /** The tag or commit of the release's program. */
  revision: z.string(),
  /** The keys of the test data, and of nothing else. */
  secrets: z.object({ INTEGRATION_ENCRYPTION_KEY: z.string(), SESSION_JWT_SECRET: z.string() }),
  /** The origin of every endpoint's URL. */
  receiver: z.string(),
  /** Each with its signing secret, the value of its `authorization` header, and its URL's path. */
  endpoints: z.array(
    z.object({ id: z.string(), path: z.string(), secret: z.string(), authorization: z.string() }),
  ),
  /** Events that were accepted, or published from SQL, and not attempted yet, by the path of their endpoint. */
  pending: z.array(z.object({ path: z.string(), note: z.string() })),
  /** The delivery that failed and is to be tried again. */
  failedDelivery: z.string(),
  deliveries: z.number(),
  exportId: z.string(),
});
export type Release = z.infer<typeof releaseShape>;

export async function readReleases(): Promise<Release[]> {
  const versions = readdirSync(RELEASES).sort();
  return Promise.all(
    versions.map(async (version) =>
      releaseShape.parse(JSON.parse(await readFile(join(RELEASES, version, "release.json"), "utf8"))),
    ),
  );
}

/** A database with the release's rows, whose endpoints are at `receiver`; its stored files go into `dataDir`. */
export async function restoreRelease(
  release: Release,
  { receiver, dataDir }: { receiver: string; dataDir: string },
): Promise<TestDatabase> {
  // The dump names roles of the server and does not hold them: a migrated database makes them.
  const migrated = await createTestDatabase();
  await migrated.drop();
  const database = await createTestDatabase({ migrated: false });
  const folder = join(RELEASES, release.version);
  const sql = await readFile(join(folder, "database.sql"), "utf8");
  const client = await database.pool.connect();
  try {
    await client.query(sql.replaceAll(release.receiver, receiver));
  } finally {
    // The dump sets the search path and more for its session.
    client.release(true);
  }
  await mkdir(dataDir, { recursive: true });
  const unpacked = spawnSync("tar", ["-xzf", join(folder, "storage.tar.gz"), "-C", dataDir], {
    encoding: "utf8",
  });
  assert.equal(unpacked.status, 0, unpacked.stderr);
  return database;
}

/** The release's program, with its own dependencies, from its commit. Null as `missing` where it is there. */
export function bringRelease(
  { version, revision }: Pick<Release, "version" | "revision">,
  tell: Tell = () => undefined,
): { main: string } | { missing: string } {
  const tool: Tool = {
    name: `postern-${version}-${revision.slice(0, 12)}`,
    notice: `Bringing the program of ${version} for tests (once, some seconds) …`,
    bring: (folder) => [
      { command: "sh", args: ["-c", `git -C "${ROOT}" archive "${revision}" | tar -x -C "${folder}"`] },
      {
        command: "npm",
        args: ["ci", "--ignore-scripts", "--omit=dev", "--omit=optional", "--no-audit", "--loglevel=error"],
      },
    ],
  };
  if (!existsSync(folderOf(tool))) {
    const known = spawnSync("git", ["cat-file", "-e", `${revision}^{commit}`], { cwd: ROOT });
    if (known.status !== 0) return { missing: `this clone does not have ${version} (${revision})` };
  }
  const why = prepareTool(tool, tell);
  return why === null ? { main: join(folderOf(tool), "src", "main.ts") } : { missing: why };
}
