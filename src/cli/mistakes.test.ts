import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeMistake } from "./mistakes.ts";

const fault = (code: string, message: string): Error => Object.assign(new Error(message), { code });

describe("describeMistake", () => {
  const cases: [name: string, error: Error, wrong: RegExp, remedy: RegExp][] = [
    [
      "a certificate of an unknown authority",
      fault("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify the first certificate"),
      /is not trusted/,
      /sslrootcert/,
    ],
    [
      "a certificate for another host, which sslrootcert does not help",
      fault("ERR_TLS_CERT_ALTNAME_INVALID", "IP: 127.0.0.1 is not in the cert's list"),
      /is for another host/,
      /name the host as the certificate does/,
    ],
    [
      "an expired certificate",
      fault("CERT_HAS_EXPIRED", "certificate has expired"),
      /is not valid now/,
      /^Renew/,
    ],
    [
      "a server that takes TLS alone",
      fault("28000", 'no pg_hba.conf entry for host "10.0.0.1", user "postern", no encryption'),
      /does not let Postern in/,
      /sslmode=verify-full/,
    ],
    [
      "a wrong password",
      fault("28P01", 'password authentication failed for user "postern"'),
      /does not let Postern in/,
      /^Check user, password/,
    ],
  ];
  for (const [name, error, wrong, remedy] of cases) {
    it(`says what to do about ${name}`, () => {
      const lines = describeMistake(error)?.split("\n") ?? [];
      assert.equal(lines.length, 2);
      assert.match(lines[0] ?? "", wrong);
      assert.match(lines[1] ?? "", remedy);
    });
  }

  it("leaves a fault of the program to be printed whole", () => {
    assert.equal(describeMistake(new TypeError("x is not a function")), null);
  });
});
