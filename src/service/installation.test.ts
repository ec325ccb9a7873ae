import assert from "node:assert/strict";
import { it } from "node:test";
import { makeSecrets, readConfig, type Environment } from "../config.ts";
import { describeInstallation } from "./installation.ts";

const installation = (env: Environment = {}) =>
  describeInstallation(readConfig({ ...makeSecrets(), ...env }));
const onS3 = {
  OBJECT_STORE_URL: "s3://bucket?region=us-east-1",
  AWS_ACCESS_KEY_ID: "x",
  AWS_SECRET_ACCESS_KEY: "y",
};

it("callers are told each limit as it is set", () => {
  const { limits } = installation({
    MAX_ENDPOINTS_PER_TENANT: "11",
    RATE_LIMIT_WRITES: "12",
    RATE_LIMIT_DISPATCHES: "13",
    RATE_LIMIT_FETCHES: "14",
    RETENTION_DAYS: "15",
  });
  assert.deepEqual(limits, {
    endpoints: 11,
    writes_per_minute: 12,
    dispatches_per_minute: 13,
    fetches_per_minute: 14,
    retention_days: 15,
  });
});

it("callers are told whether private targets are allowed, and whether links to files lead anywhere", () => {
  const cases: [Environment, { private_targets: boolean; public_links: boolean }][] = [
    [{}, { private_targets: false, public_links: false }],
    [{ OUTBOUND_ALLOWED_CIDRS: "10.0.0.0/8" }, { private_targets: true, public_links: false }],
    [{ PUBLIC_URL: "https://hooks.example.com" }, { private_targets: false, public_links: true }],
    [{ PUBLIC_URL: "http://127.0.0.1:8080" }, { private_targets: false, public_links: false }],
    [onS3, { private_targets: false, public_links: true }],
    [
      { ...onS3, OBJECT_STORE_URL: `${onS3.OBJECT_STORE_URL}&endpoint=http://127.0.0.1:9000` },
      { private_targets: false, public_links: false },
    ],
  ];
  for (const [env, features] of cases)
    assert.deepEqual(installation(env).features, features, JSON.stringify(env));
});
