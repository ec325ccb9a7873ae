import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ConfigError } from "../shared/config-error.ts";
import { requireCertificateFiles } from "./certificate-files.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";

it("each file that a connection string names can be read, or is told", async (test) => {
  const folder = await mkdtemp(join(tmpdir(), "postern-certificates-"));
  test.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "ca.pem");
  await writeFile(file, PEM);
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
          `${parameter} of the database's URL can't be read: ENOENT: no such file or directory, open '${missing}'.\nCheck the path, that it is a file, and that this user may read it.`,
        );
        return true;
      },
    );
  }
});

it("a folder, which containers make of a missing file, is told as a file that can't be read", async (test) => {
  const folder = await mkdtemp(join(tmpdir(), "postern-certificates-"));
  test.after(() => rm(folder, { recursive: true }));
  assert.throws(
    () => requireCertificateFiles(`postgres://user@one.example/postern?sslrootcert=${folder}`),
    (error) => error instanceof ConfigError && /^sslrootcert .* can't be read: EISDIR/.test(error.message),
  );
});

describe("a file of sslrootcert", () => {
  for (const [what, text, isGood] of [
    ["is empty", "", false],
    ["has no certificate", "-----BEGIN EC PRIVATE KEY-----\nMA==\n-----END EC PRIVATE KEY-----\n", false],
    ["is two certificates joined without a line's end between them", PEM.trimEnd() + PEM, false],
    ["is two certificates, with words before them", `an authority\n${PEM}another\n${PEM}`, true],
    ["is two certificates, one of them in a comment", PEM.replaceAll(/^/gm, "# ") + "\n" + PEM, true],
    ["begins with the mark of a text in UTF-8", `\uFEFF${PEM}`, true],
    ["has a certificate behind words in its line", `an authority ${PEM}`, false],
    ["has the line ends of Windows", PEM.replaceAll("\n", "\r\n"), true],
    ["is of another kind of certificate in PEM", PEM.replaceAll("CERTIFICATE", "TRUSTED CERTIFICATE"), true],
  ] as const) {
    it(`${isGood ? "is taken where it" : "is told where it"} ${what}`, async (test) => {
      const folder = await mkdtemp(join(tmpdir(), "postern-certificates-"));
      test.after(() => rm(folder, { recursive: true }));
      const file = join(folder, "ca.pem");
      await writeFile(file, text);
      const url = `postgres://user@one.example/postern?sslmode=verify-full&sslrootcert=${file}`;
      if (isGood) return requireCertificateFiles(url);
      assert.throws(
        () => requireCertificateFiles(url),
        (error) =>
          error instanceof ConfigError &&
          error.message.startsWith("sslrootcert of the database's URL has no"),
      );
    });
  }
});

it("a connection string that names none, or that cannot be read, is left to what connects", () => {
  requireCertificateFiles("postgres://user@one.example/postern?sslmode=require&sslcrl=/nowhere.pem");
  requireCertificateFiles("no address?sslrootcert=/nowhere.pem");
});
