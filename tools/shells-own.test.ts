import assert from "node:assert/strict";
import { it } from "node:test";
import { forgetShellsOwn } from "./shells-own.ts";

it("a developer's shell decides nothing for the tests, and keeps what installs and finds programs", () => {
  const own = {
    PORT: "3000",
    HOST: "0.0.0.0",
    LOG_LEVEL: "debug",
    DATABASE_URL: "postgres://a/b",
    NODE_ENV: "production",
    FORCE_COLOR: "1",
    DEBUG: "*",
    LC_ALL: "de_DE.UTF-8",
    LANG: "de_DE.UTF-8",
    PGHOST: "db.example.com",
    PYTHONUNBUFFERED: "1",
    AWS_PROFILE: "prod",
    OTEL_TRACES_SAMPLER: "always_off",
  };
  const others = {
    PATH: "/bin",
    HOME: "/home/me",
    TZ: "Asia/Kathmandu",
    PIP_CERT: "ca.pem",
    SSL_CERT_FILE: "ca.pem",
    npm_config_cafile: "ca.pem",
    GOFLAGS: "-mod=mod",
  };
  const env = { ...own, ...others };
  forgetShellsOwn(env);
  assert.deepEqual(env, others);
});
