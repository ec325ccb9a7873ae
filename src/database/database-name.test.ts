import assert from "node:assert/strict";
import { it } from "node:test";
import * as fc from "fast-check";
import { maskPassword, nameDatabase } from "./database-name.ts";

const dataDir = "/var/lib/postern";

const named = (databaseUrl: string | undefined): string => nameDatabase({ databaseUrl, dataDir });

it("names the host and the database, and nothing that lets anybody in", () => {
  assert.equal(named(undefined), "embedded, in /var/lib/postern/postgres");
  assert.equal(
    named("postgres://user:pass@db.example:5433/events?sslmode=require"),
    "events on db.example:5433",
  );
  assert.equal(
    named("postgres:///events?host=/var/run/postgresql&user=u&password=p"),
    "events on /var/run/postgresql",
  );
  assert.equal(named("postgres://user@localhost"), "the user's own on localhost");
  assert.equal(named("postgres://user:pass@a,b:5433/events"), "events on a:5432, b:5433");
  assert.equal(named("postgres://user:pass@a,a/events"), "the one of DATABASE_URL");
  assert.equal(named("postgres://u:a%zz@h:port/d"), "the one of DATABASE_URL");
});

it("masks the password alone", () => {
  assert.equal(
    maskPassword("postgres://user:pass@db.example:5433/events?sslmode=require"),
    "postgres://user:********@db.example:5433/events?sslmode=require",
  );
  assert.equal(
    maskPassword("postgres://a:pass@a,[fd00::1]:5433/d"),
    "postgres://a:********@a:5432,[fd00::1]:5433/d",
  );
  assert.equal(maskPassword("postgres://a,b/d?password=p"), "postgres://a:5432,b:5432/d?password=********");
  assert.equal(maskPassword("postgres://user@h/d"), "postgres://user@h/d");
  assert.equal(maskPassword("postgres:///d?user=u&password=p"), "postgres:///d?user=u&password=********");
  assert.equal(
    maskPassword("postgres://u:pw@h/d?sslkey=/k.pem&sslpassword=p"),
    "postgres://u:********@h/d?sslkey=%2Fk.pem&sslpassword=********",
  );
  assert.equal(maskPassword("postgres://u:pw@h:port/d"), "********");
  assert.equal(maskPassword("postgres://u:pw@a/d,postgres://u:pw@b/d"), "********");
});

it("shows no password, whatever it is", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9]{12}$/), fc.string(), (secret, more) => {
      for (const password of [secret + more, encodeURIComponent(secret + more)]) {
        const url = `postgres://user:${password}@host/db`;
        assert.ok(!maskPassword(url).includes(secret), url);
        assert.ok(!named(url).includes(secret), url);
      }
    }),
  );
});
