import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { ConfigError } from "../../shared/config-error.ts";
import { databaseUrlFault, forLibpq, parseHostList, requireHosts } from "./host-list.ts";

function hostsOf(databaseUrl: string) {
  const list = parseHostList(databaseUrl);
  assert.ok(list.kind === "hosts", databaseUrl);
  return list.hosts;
}

function faultOf(databaseUrl: string): string {
  const list = parseHostList(databaseUrl);
  assert.ok(list.kind === "fault", databaseUrl);
  return list.fault;
}

const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: null });
const hostname = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9](\.[a-z]{2,5})?$/),
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
);
const list = fc.uniqueArray(fc.tuple(hostname, port), {
  minLength: 2,
  maxLength: 5,
  selector: ([name, number]) => `${name.toLowerCase()}:${number ?? 5432}`,
});

describe("parseHostList", () => {
  it("gives each host the user, database and parameters of the whole", () => {
    assert.deepEqual(
      hostsOf("postgres://user:p%40w@a:5432,B.example:5433,[fd00::1],c/postern?sslmode=require"),
      [
        { name: "a:5432", url: "postgres://user:p%40w@a:5432/postern?sslmode=require" },
        { name: "b.example:5433", url: "postgres://user:p%40w@b.example:5433/postern?sslmode=require" },
        { name: "[fd00::1]:5432", url: "postgres://user:p%40w@[fd00::1]:5432/postern?sslmode=require" },
        { name: "c:5432", url: "postgres://user:p%40w@c:5432/postern?sslmode=require" },
      ],
    );
  });

  it("reads what was put together, whatever is in user, password and database", () => {
    fc.assert(
      fc.property(list, fc.string(), fc.string(), fc.string(), (hosts, user, password, database) => {
        const authority = hosts.map(([name, number]) => (number === null ? name : `${name}:${number}`));
        const [name, secret, base] = [user, password, database].map(encodeURIComponent);
        const read = hostsOf(`postgresql://${name}:${secret}@${authority.join(",")}/${base}`);
        assert.deepEqual(
          read.map((host) => host.name),
          hosts.map(([host, number]) => `${host.toLowerCase()}:${number ?? 5432}`),
        );
        for (const { url } of read) {
          const parsed = new URL(url);
          assert.equal(decodeURIComponent(parsed.username), user);
          assert.equal(decodeURIComponent(parsed.password), password);
        }
      }),
    );
  });

  it("leaves a string of one host as it is, and never throws", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const url = `postgres://${text}`;
        const read = parseHostList(url);
        const [authority = ""] = text.split(/[/?#]/, 1);
        if (!authority.slice(authority.lastIndexOf("@") + 1).includes(",")) {
          assert.deepEqual(read.kind === "hosts" && read.hosts.map((host) => host.url), [url]);
        }
      }),
    );
  });

  it("takes a comma of the password for what it is", () => {
    assert.deepEqual(
      hostsOf("postgres://user:a,b@h/postern").map(({ url }) => url),
      ["postgres://user:a,b@h/postern"],
    );
  });

  for (const hosts of [
    "a,",
    ",a",
    "a,,b",
    "a:0,b",
    "a:65536,b",
    "a:x,b",
    "fd00::1,b",
    "[fd00::1,b",
    "[x],b",
  ]) {
    it(`refuses the list ${hosts}`, () => {
      assert.match(faultOf(`postgres://${hosts}/postern`), /^has no valid host at place [12] of its list/);
    });
  }

  it("refuses a host that is named twice, also by its default port", () => {
    assert.match(faultOf("postgres://a,b,A:5432/postern"), /^names the host a:5432 twice/);
  });

  it("refuses parameters that name other hosts or want a standby", () => {
    for (const name of ["host", "port", "hostaddr"]) {
      assert.equal(
        faultOf(`postgres://a,b/postern?${name}=c`),
        `lists hosts and has the parameter ${name}: name every host in the list`,
      );
    }
    assert.match(faultOf("postgres://a,b/postern?target_session_attrs=standby"), /target_session_attrs/);
    for (const wanted of ["read-write", "primary"])
      assert.equal(hostsOf(`postgres://a,b/postern?target_session_attrs=${wanted}`).length, 2);
  });

  it("reads parameters after a question mark alone: a database may be named like one", () => {
    assert.equal(hostsOf("postgres://a,b/x&host=c").length, 2);
  });

  it("takes ports from 1 to 65535, of at most five digits, and writes them without zeros", () => {
    assert.deepEqual(
      hostsOf("postgres://a:1,b:65535,c:00080,d:/postern").map(({ name }) => name),
      ["a:1", "b:65535", "c:80", "d:5432"],
    );
    for (const port of ["0", "65536", "000080"]) {
      assert.match(
        faultOf(`postgres://a,b:${port}/postern`),
        /^has no valid host at place 2 of its list: write host or host:port between commas/,
      );
    }
  });

  it("says which characters to encode where a user or password can't be read", () => {
    assert.match(
      faultOf("postgres://user:se%zzcret@a b,c/postern"),
      /^can't be read. Percent-encode reserved characters of the user and password: @ as %40/,
    );
  });

  it("refuses several URLs, of which the second would be a part of the database's name, and shown", () => {
    for (const between of [",", ";", " ", ",eu2="]) {
      const text = `postgres://u:p@a/d${between}postgresql://u:secret@b/d`;
      assert.match(faultOf(text), /^holds more than one URL/, text);
    }
    for (const text of [
      "postgres://u:p@a,postgres://u:secret@b/d",
      "postgres://u:p@a,eu2=postgresql://u:secret@b",
    ])
      assert.match(faultOf(text), /^holds more than one URL/, text);
    assert.equal(parseHostList("postgres://u:p@a/d?sslrootcert=/a://b").kind, "hosts");
  });

  it("shows no password in a fault", () => {
    assert.doesNotMatch(faultOf("postgres://user:se%zzcret@a b,c/postern"), /cret/);
  });
});

describe("databaseUrlFault", () => {
  it("finds a fault of the list, or of a parameter that pg would ignore", () => {
    assert.equal(databaseUrlFault("postgres://a,b/x?sslmode=require"), null);
    assert.equal(databaseUrlFault("postgres://a,A/x?sslmod=require"), "names the host a:5432 twice");
    for (const hosts of ["a", "a,b"]) {
      const fault = databaseUrlFault(`postgres://${hosts}/x?sslmod=require`);
      assert.equal(fault, "has a misspelled parameter: did you mean sslmode?");
    }
  });
});

describe("requireHosts", () => {
  it("answers the hosts, or refuses the setting by its name", () => {
    assert.deepEqual(requireHosts("postgres://a,b/x"), hostsOf("postgres://a,b/x"));
    assert.throws(
      () => requireHosts("postgres://a,A/x"),
      (error: unknown) =>
        error instanceof ConfigError && error.message === "DATABASE_URL names the host a:5432 twice",
    );
  });
});

describe("forLibpq", () => {
  it("asks for a host that accepts writes, where a list does not yet", () => {
    const attributes = "target_session_attrs=read-write";
    assert.equal(forLibpq("postgres://a,b/x"), `postgres://a,b/x?${attributes}`);
    assert.equal(
      forLibpq("postgres://a,b/x?sslmode=require"),
      `postgres://a,b/x?sslmode=require&${attributes}`,
    );
    const other = "postgres://a,b/x?my_target_session_attrs=1";
    assert.equal(forLibpq(other), `${other}&${attributes}`);
    for (const same of ["postgres://a/x", "postgres://a,b/x?target_session_attrs=primary"])
      assert.equal(forLibpq(same), same);
  });
});
