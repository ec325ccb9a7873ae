import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SETTING_NAMES as SETTINGS } from "./config.ts";
import { misspelledSettings } from "./misspelled-settings.ts";

describe("misspelledSettings", () => {
  it("finds names near to settings that are not given", () => {
    const env = {
      OUTBOUND_ALLOWED_CIDR: "10.0.0.0/8",
      RETENTIONDAYS: "3",
      DATABASE_URI: "",
      metrics_token: "x",
    };
    assert.deepEqual(misspelledSettings(env, SETTINGS), [
      "OUTBOUND_ALLOWED_CIDR is no setting: did you mean OUTBOUND_ALLOWED_CIDRS?",
      "RETENTIONDAYS is no setting: did you mean RETENTION_DAYS?",
      "DATABASE_URI is no setting: did you mean DATABASE_URL?",
      "metrics_token is no setting: did you mean METRICS_TOKEN?",
    ]);
  });

  it("leaves a name whose neighbour is given, and what is like none", () => {
    const given = {
      DATABASE_URL: "postgres://a/b",
      DATABASE_URL_2: "x",
      PORTS: "1",
      HOSTS: "a",
      PATH: "/bin",
    };
    assert.deepEqual(misspelledSettings(given, SETTINGS), []);
    assert.deepEqual(
      misspelledSettings(Object.fromEntries(SETTINGS.map((name) => [name, ""])), SETTINGS),
      [],
    );
  });

  it("leaves the variables of systemd, npm, Kubernetes and OpenTelemetry", () => {
    const names = [
      "INVOCATION_ID",
      "JOURNAL_STREAM",
      "STATE_DIRECTORY",
      "LISTEN_FDS",
      "NODE_ENV",
      "NODE_OPTIONS",
      "NODE_EXTRA_CA_CERTS",
      "npm_config_cache",
      "npm_package_name",
      "KUBERNETES_SERVICE_HOST",
      "HOSTNAME",
      "OTEL_TRACES_SAMPLER",
      "OTEL_EXPORTER_OTLP_PROTOCOL",
      "OTEL_RESOURCE_ATTRIBUTES",
      "AWS_REGION",
      "PGHOST",
      "PGPASSWORD",
      "LOGNAME",
      "MOVE_FROM_URL",
      "MOVE_TO_URL",
      "USER",
      "HOME",
      "LANG",
      "SHELL",
    ];
    assert.deepEqual(misspelledSettings(Object.fromEntries(names.map((name) => [name, "x"])), SETTINGS), []);
  });
});
