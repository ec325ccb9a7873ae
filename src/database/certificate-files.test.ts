import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { ConfigError } from "../shared/config-error.ts";
import { requireCertificateFiles } from "./certificate-files.ts";

it("each file that a connection string names can be read, or is told", async (test) => {
  const folder = await mkdtemp(join(tmpdir(), "postern-certificates-"));
  test.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "ca.pem");
  await writeFile(file, "");
  const base = "postgres://user@one.example,two.example/postern";
  for (const parameter of ["sslrootcert", "sslcert", "sslkey"]) {
    requireCertificateFiles(`${base}?${parameter}=${file}`);
    requireCertificateFiles(`${base}?${parameter}=`);
    const missing = join(folder, "missing.pem");
    const others = ["sslrootcert", "sslcert"].map((name) => (name === parameter ? "" : `${name}=${file}&`));
    assert.throws(
      () => requireCertificateFiles(`${base}?${others.join("")}${parameter}=${missing}`),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.equal(
          error.message,
          `${parameter} of DATABASE_URL can't be read: ENOENT: no such file or directory, access '${missing}'.\nCheck the path, and that this user may read the file.`,
        );
        return true;
      },
    );
  }
});

it("a connection string that names none, or that cannot be read, is left to what connects", () => {
  requireCertificateFiles("postgres://user@one.example/postern?sslmode=require&sslcrl=/nowhere.pem");
  requireCertificateFiles("no address?sslrootcert=/nowhere.pem");
});
