import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tlsParameterFault } from "./tls-parameters.ts";

const withQuery = (query: string): string => `postgres://user:pw@db.example/postern?${query}`;

describe("tlsParameterFault", () => {
  for (const [query, meant] of [
    ["ssl_mode=verify-full", "sslmode"],
    ["SSLMODE=verify-full", "sslmode"],
    ["sslmod=require", "sslmode"],
    ["slmode=require", "sslmode"],
    ["sslmode=require&sslrootcrt=/ca.pem", "sslrootcert"],
  ] as const) {
    it(`refuses ${query}, which pg would ignore`, () => {
      const fault = tlsParameterFault(withQuery(query));
      assert.equal(fault, `has a misspelled parameter: did you mean ${meant}?`);
    });
  }

  it("knows each parameter about TLS of pg and of libpq by a slip of it", () => {
    const known =
      "channel_binding require_auth ssl ssl_max_protocol_version ssl_min_protocol_version sslcert sslcertmode " +
      "sslcompression sslcrl sslcrldir sslkey sslmode sslnegotiation sslpassword sslrootcert sslsni uselibpqcompat";
    for (const name of known.split(" ")) {
      const fault = tlsParameterFault(withQuery(`${name.toUpperCase()}=x`));
      assert.equal(fault, `has a misspelled parameter: did you mean ${name}?`);
    }
  });

  it("refuses a mode that there is not, without showing it", () => {
    const fault = tlsParameterFault(withQuery("sslmode=verify_full"));
    assert.match(fault ?? "", /^has a wrong sslmode: it is one of .*, verify-full$/);
    assert.doesNotMatch(fault ?? "", /verify_full/);
  });

  it("refuses it also behind one that there is", () => {
    const fault = tlsParameterFault(withQuery("sslmode=require&sslmode=verify_full"));
    assert.match(fault ?? "", /^has a wrong sslmode/);
  });

  for (const query of [
    "",
    "sslmode=verify-full&sslrootcert=/ca.pem",
    "ssl=true",
    "sslmode=no-verify",
    "sslmode=require&uselibpqcompat=true&sslcrl=/crl.pem&sslsni=1&ssl_min_protocol_version=TLSv1.3",
    "application_name=x&options=-c%20a%3Db&target_session_attrs=read-write&schema=public&pgbouncer=true",
  ]) {
    it(`takes ${query === "" ? "no parameter" : query}`, () => {
      assert.equal(tlsParameterFault(withQuery(query)), null);
    });
  }
});
