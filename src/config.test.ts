import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { describeSettings, makeSecrets, readConfig, readDatabaseConfig, type Environment } from "./config.ts";
import { ConfigError } from "./shared/config-error.ts";

const GOOD: Environment = makeSecrets();

function messageFor(env: Environment): string {
  try {
    readConfig({ ...GOOD, ...env });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return assert.fail("the settings were accepted");
}

const schedule = (attempts: number) => Array.from({ length: attempts }, () => "1s").join();
const store = (bucketLength: number) => `s3://${"b".repeat(bucketLength)}?region=eu`;

describe("readConfig", () => {
  it("needs two secrets and has a default for everything else", () => {
    const config = readConfig(GOOD);
    const { session, encryptionKeys, outbound, ...rest } = config;
    const open = { issuer: undefined, audience: undefined };
    assert.deepEqual(session, { kind: "secret", secret: GOOD["SESSION_JWT_SECRET"], ...open });
    assert.deepEqual(encryptionKeys, [Buffer.from(GOOD["INTEGRATION_ENCRYPTION_KEY"] ?? "", "base64")]);
    assert.deepEqual(
      [outbound.allowedCidrs, outbound.deniedCidrs, outbound.dnsServers, outbound.blockedPorts.has(22)],
      [[], [], [], true],
    );
    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * 3_600_000);
    assert.deepEqual(rest, {
      port: 8080,
      host: "127.0.0.1",
      basePath: "",
      publicUrl: undefined,
      databaseUrl: undefined,
      shards: undefined,
      intake: undefined,
      durability: "local",
      dataDir: "./.postern",
      databasePoolSize: 20,
      objectStore: { kind: "directory" },
      artifactDays: 30,
      tracing: undefined,
      trashDays: 30,
      eventCatalogFile: undefined,
      retryScheduleMs: [0, 5000, 300_000, 1_800_000, ...hours],
      disableAfterMs: 5 * 86_400_000,
      operatorTenant: null,
      portalFrameAncestors: [],
      maxEndpointsPerTenant: 100,
      retentionDays: 30,
      rateLimits: { writes: 1200, dispatches: 300, fetches: 12_000, authentications: 600 },
      trustedProxies: [],
      metricsToken: undefined,
      logLevel: "info",
    });
  });

  it("refuses a misspelled parameter of TLS, which would mean plain text", () => {
    const url = "postgres://postern@db.example/postern?ssl_mode=verify-full";
    const fault = "has a misspelled parameter: did you mean sslmode?";
    assert.equal(messageFor({ DATABASE_URL: url }), `DATABASE_URL ${fault}`);
    assert.equal(messageFor({ SHARDS: `eu1=${url}` }), `SHARDS has a database for eu1 that ${fault}`);
  });

  it("lists the words that a setting may be", () => {
    assert.equal(
      messageFor({ LOG_LEVEL: "warning", DURABILITY: "full" }),
      "DURABILITY must be one of local, standby\n" +
        "LOG_LEVEL must be one of trace, debug, info, warn, error, silent",
    );
  });

  it("takes an empty variable as not set", () => {
    const empty = Object.fromEntries(describeSettings({}).map(({ name }) => [name, ""]));
    assert.deepEqual(readConfig({ ...empty, ...GOOD }), readConfig(GOOD));
  });

  it("cannot be changed", () => {
    assert.ok(Object.isFrozen(readConfig(GOOD)));
  });

  it("reads keys in base64 and hex, and a ring of both in order", () => {
    const [one, two] = [randomBytes(32), randomBytes(32)];
    const ring = `${one.toString("hex")}, ${two.toString("base64")}`;
    assert.deepEqual(readConfig({ ...GOOD, INTEGRATION_ENCRYPTION_KEY: ring }).encryptionKeys, [one, two]);
  });

  for (const [name, value] of [
    ["31 bytes", randomBytes(31).toString("base64")],
    ["33 bytes", randomBytes(33).toString("base64")],
    ["a passphrase", "correct horse battery staple"],
    // Decoders skip what is not base64, so a slip of the pen would be another key.
    ["a key with a stray character", `${"A".repeat(20)}*${"A".repeat(23)}=`],
    ["a ring with a gap", `${randomBytes(32).toString("base64")},`],
  ] as const) {
    it(`refuses ${name} as a key, says how to make one, and does not repeat it`, () => {
      const message = messageFor({ INTEGRATION_ENCRYPTION_KEY: value });
      assert.match(message, /^INTEGRATION_ENCRYPTION_KEY .*openssl rand -base64 32$/);
      assert.ok(!message.includes(value));
    });
  }

  it("says that a ring has an empty key, as where a variable was not set", () => {
    const key = randomBytes(32).toString("base64");
    for (const ring of [`${key},`, `,${key}`, `${key}, ,${key}`])
      assert.match(messageFor({ INTEGRATION_ENCRYPTION_KEY: ring }), /has an empty key beside a comma/);
  });

  const wrong: [string, string][] = [
    ["HOST", "fe80::1%eth0"],
    ["HOST", "[::1]"],
    ["HOST", "127.0.0.1:80:80"],
    ["HOST", "127.0.0.1:80"],
    ["HOST", "256.0.0.1"],
    ["HOST", "localhost/x"],
    ["HOST", "localhost?x"],
    ["HOST", "localhost#x"],
    ["HOST", "localhost\\x"],
    ["HOST", "me@localhost"],
    ["HOST", "http://localhost"],
    ["HOST", "local%68ost"],
    ["HOST", " localhost"],
    ["HOST", "0.0.0.0,::"],
    ["HOST", "*"],
    ["HOST", "a..b"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "80a"],
    ["BASE_PATH", "postern"],
    ["BASE_PATH", "/a//b"],
    ["BASE_PATH", "/a?b"],
    ["PUBLIC_URL", "hooks.example.com"],
    ["PUBLIC_URL", "http://hooks.example.com"],
    ["PUBLIC_URL", "https://hooks.example.com/?x"],
    ["SESSION_JWKS_URL", "https://me:secret@login.example.com/jwks"],
    ["SESSION_JWKS_URL", "HTTPS://me@login.example.com"],
    ["DATABASE_URL", "mysql://localhost/"],
    ["OBJECT_STORE_URL", "s3://bucket-without-region"],
    ["ARTIFACT_DAYS", "0"],
    ["DATABASE_POOL_SIZE", "2"],
    ["DATABASE_URL", "postgres://a,a/postern"],
    ["SHARDS", "postgres://a/x"],
    ["INTAKE_URL", "http://a"],
    ["INTAKE_URL", "nats://a,,b"],
    ["DURABILITY", "remote"],
    ["DNS_SERVERS", "10.0.0.2"],
    ["DNS_SERVERS", "10.0.0.2:65536"],
    ["DNS_SERVERS", "10.0.0.256:53"],
    ["DNS_SERVERS", "[fd00::g]:53"],
    ["DNS_SERVERS", "fd00::2:53"],
    ["PORTAL_FRAME_ANCESTORS", "https://app.example.com/"],
    ["SESSION_JWT_SECRET", "a".repeat(31)],
    ["BLOCKED_PORTS", "22,x"],
    ["RETRY_SCHEDULE", "0s,5 minutes"],
    ["DISABLE_AFTER", "5"],
    ["DISABLE_AFTER", "0d"],
    ["MAX_ENDPOINTS_PER_TENANT", "0"],
    ["RETENTION_DAYS", "0"],
    ["LOG_LEVEL", "loud"],
  ];
  for (const [name, value] of wrong) {
    it(`refuses ${name}=${value}`, () => {
      assert.match(messageFor({ [name]: value }), new RegExp(`^${name} `));
    });
  }

  const limits: [string, number, number][] = [
    ["PORT", 0, 65_535],
    ["DATABASE_POOL_SIZE", 3, 1000],
    ["ARTIFACT_DAYS", 1, 3650],
    ["TRASH_DAYS", 1, 3650],
    ["MAX_ENDPOINTS_PER_TENANT", 1, 100_000],
    ["RETENTION_DAYS", 1, 3650],
    ["RATE_LIMIT_WRITES", 0, 1_000_000],
    ["RATE_LIMIT_DISPATCHES", 0, 1_000_000],
    ["RATE_LIMIT_FETCHES", 0, 1_000_000],
    ["RATE_LIMIT_AUTH", 0, 1_000_000],
  ];
  it("takes each number up to its limits, and not beyond", () => {
    for (const [name, least, most] of limits) {
      readConfig({ ...GOOD, [name]: String(least) });
      readConfig({ ...GOOD, [name]: String(most) });
      assert.match(messageFor({ [name]: String(least - 1) }), new RegExp(`^${name} must be `));
      assert.equal(messageFor({ [name]: String(most + 1) }), `${name} must be at most ${most}`);
    }
  });

  it("takes 100 attempts, and delays of 365 days, and not more", () => {
    assert.equal(readConfig({ ...GOOD, RETRY_SCHEDULE: schedule(100) }).retryScheduleMs.length, 100);
    assert.match(messageFor({ RETRY_SCHEDULE: schedule(101) }), /^RETRY_SCHEDULE /);
    assert.deepEqual(readConfig({ ...GOOD, RETRY_SCHEDULE: "365d" }).retryScheduleMs, [365 * 86_400_000]);
    assert.match(
      messageFor({ RETRY_SCHEDULE: "366d", DISABLE_AFTER: "366d" }),
      /^RETRY.*\nDISABLE.* 365d at most$/,
    );
  });

  it("takes a token of METRICS_TOKEN that a header can carry, and repeats none", () => {
    for (const METRICS_TOKEN of ["t", "a token", "AZaz09-._~+/=!{}"])
      assert.equal(readConfig({ ...GOOD, METRICS_TOKEN }).metricsToken, METRICS_TOKEN);
    for (const METRICS_TOKEN of [" ", "token\n", " token", "to\nken", "sésame", "token\u20ac"])
      assert.equal(
        messageFor({ METRICS_TOKEN }),
        "METRICS_TOKEN must be printable ASCII, without spaces around it",
      );
  });

  it("takes name servers by their addresses and ports", () => {
    const { dnsServers } = readConfig({ ...GOOD, DNS_SERVERS: "10.0.0.2:53, [fd00::2]:65535" }).outbound;
    assert.deepEqual(dnsServers, ["10.0.0.2:53", "[fd00::2]:65535"]);
  });

  it("measures the names of buckets that it derives, which the first shard's is not", () => {
    const SHARDS = "a-rather-long-name=postgres://a/x|b=postgres://b/y";
    readConfig({ ...GOOD, SHARDS, OBJECT_STORE_URL: store(61) });
    assert.match(messageFor({ SHARDS, OBJECT_STORE_URL: store(62) }), /a shard's is b+-b, of at most 63/);
  });

  it("says how to write a single address where it takes ranges", () => {
    assert.match(messageFor({ TRUSTED_PROXIES: "127.0.0.1" }), /a single address is 10\.0\.0\.1\/32 /);
  });

  it("tells every mistake at once, each on its line", () => {
    const message = messageFor({ PORT: "x", LOG_LEVEL: "loud", INTEGRATION_ENCRYPTION_KEY: undefined });
    assert.deepEqual(
      message.split("\n").map((line) => line.split(" ")[0]),
      ["PORT", "INTEGRATION_ENCRYPTION_KEY", "LOG_LEVEL"],
    );
  });

  it("mounts under a base path with or without a slash at its end", () => {
    assert.equal(readConfig({ ...GOOD, BASE_PATH: "/a/b/" }).basePath, "/a/b");
    assert.equal(readConfig({ ...GOOD, BASE_PATH: "/" }).basePath, "");
  });

  it("takes one source of sessions and not two", () => {
    const jwks = {
      SESSION_JWKS_URL: "https://login.example.com/keys",
      SESSION_ISSUER: "https://login.example.com/",
      SESSION_AUDIENCE: "postern",
    };
    assert.match(messageFor(jwks), /both set/);
    assert.match(messageFor({ SESSION_JWT_SECRET: undefined }), /openssl rand/);
    assert.match(
      messageFor({ ...jwks, SESSION_JWT_SECRET: "", SESSION_AUDIENCE: undefined }),
      /SESSION_AUDIENCE/,
    );
    assert.match(
      messageFor({ ...jwks, SESSION_JWT_SECRET: "", SESSION_JWKS_URL: "ftp://x/" }),
      /^SESSION_JWKS_URL /,
    );
    assert.deepEqual(readConfig({ ...GOOD, ...jwks, SESSION_JWT_SECRET: "" }).session, {
      kind: "jwks",
      url: jwks.SESSION_JWKS_URL,
      issuer: jwks.SESSION_ISSUER,
      audience: jwks.SESSION_AUDIENCE,
    });
    // 32 bytes of 16 letters.
    const secret = "é".repeat(16);
    assert.partialDeepStrictEqual(readConfig({ ...GOOD, SESSION_JWT_SECRET: secret }).session, { secret });
    assert.deepEqual(readConfig({ ...GOOD, ...jwks, SESSION_JWKS_URL: "" }).session, {
      kind: "secret",
      secret: GOOD["SESSION_JWT_SECRET"],
      issuer: jwks.SESSION_ISSUER,
      audience: jwks.SESSION_AUDIENCE,
    });
  });
});

describe("readDatabaseConfig", () => {
  it("takes a forgotten database for a fault in production, and asks for no secret", () => {
    const production = { NODE_ENV: "production" };
    assert.throws(() => readDatabaseConfig(production), /^ConfigError: DATABASE_URL is not set/);
    assert.equal(readDatabaseConfig({ ...production, EMBEDDED_DATABASE: "yes" }).databaseUrl, undefined);
    const DATABASE_URL = "postgres://postern@db.example/postern";
    assert.equal(readDatabaseConfig({ ...production, DATABASE_URL }).databaseUrl, DATABASE_URL);
    assert.throws(() => readDatabaseConfig({ DATABASE_URL, SHARDS: `eu1=${DATABASE_URL}` }), /both set/);
  });
});

describe("describeSettings", () => {
  it("masks secrets and says what is a default", () => {
    const settings = describeSettings({
      ...GOOD,
      DATABASE_URL: "postgres://u:pw@h/d",
      SHARDS: "eu1=postgres://u:pw@a/x|eu2*2=postgres://u:pw@b/y",
      INTAKE_URL: "nats://u:pw@a,b",
      OBJECT_STORE_URL: "s3://key:secret@bucket?region=eu",
      SESSION_JWKS_URL: "https://u:pw@login.example.com/jwks?key=secret",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://u:pw@127.0.0.1:4318",
      PORT: "1",
    });
    const of = (name: string) => settings.find((setting) => setting.name === name);
    for (const name of ["INTEGRATION_ENCRYPTION_KEY", "SESSION_JWT_SECRET"]) {
      assert.equal(of(name)?.value, "********");
    }
    assert.equal(of("DATABASE_URL")?.value, "postgres://u:********@h/d");
    assert.equal(of("SHARDS")?.value, "eu1=postgres://u:********@a/x|eu2*2=postgres://u:********@b/y");
    assert.equal(of("INTAKE_URL")?.value, "nats://u:********@a,b");
    assert.equal(of("OBJECT_STORE_URL")?.value, "s3://key:********@bucket?region=eu");
    assert.equal(of("SESSION_JWKS_URL")?.value, "https://…@login.example.com/jwks?…");
    assert.equal(of("OTEL_EXPORTER_OTLP_ENDPOINT")?.value, "http://…@127.0.0.1:4318");
    assert.deepEqual([of("PORT")?.value, of("PORT")?.isDefault], ["1", false]);
    assert.deepEqual([of("HOST")?.value, of("HOST")?.isDefault], ["127.0.0.1", true]);
    assert.equal(of("METRICS_TOKEN")?.value, "");
  });

  it("shows no value of a setting that is a secret, each by itself", () => {
    const marker = "a-value-that-nobody-may-see";
    const names = describeSettings({}).map(({ name }) => name);
    const hidden = names.filter((name) =>
      describeSettings({ [name]: marker }).every(({ value }) => !value.includes(marker)),
    );
    assert.deepEqual(hidden, [
      "DATABASE_URL",
      "SHARDS",
      "INTAKE_URL",
      "OBJECT_STORE_URL",
      "INTEGRATION_ENCRYPTION_KEY",
      "SESSION_JWT_SECRET",
      "METRICS_TOKEN",
      "OTEL_EXPORTER_OTLP_HEADERS",
    ]);
  });
});
