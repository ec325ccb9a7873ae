import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import { TRACING_SETTINGS, tracingFields, tracingOptions } from "./tracing-settings.ts";

const fields = z.object(tracingFields);
const usual = {
  OTEL_EXPORTER_OTLP_HEADERS: TRACING_SETTINGS.OTEL_EXPORTER_OTLP_HEADERS.fallback,
  OTEL_SERVICE_NAME: TRACING_SETTINGS.OTEL_SERVICE_NAME.fallback,
  OTEL_TRACES_SAMPLER_ARG: TRACING_SETTINGS.OTEL_TRACES_SAMPLER_ARG.fallback,
};
const url = "https://collector.example/otlp";

/** The options of these settings, or what is wrong with them. */
function read(settings: Record<string, string>) {
  const parsed = fields.safeParse({ ...usual, ...settings });
  if (parsed.success) return tracingOptions(parsed.data);
  return parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
}

const traced = (settings: Record<string, string>) => read({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...settings });

describe("the settings of traces", () => {
  it("are none without a collector", () => {
    assert.equal(read({ OTEL_TRACES_SAMPLER_ARG: "0.5" }), undefined);
  });

  it("have defaults beside the collector's address, which loses its slash", () => {
    const options = { url, headers: {}, serviceName: "postern", share: 1 };
    assert.deepEqual(read({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/` }), options);
    assert.deepEqual(traced({ OTEL_SERVICE_NAME: "hooks" }), { ...options, serviceName: "hooks" });
    assert.equal(TRACING_SETTINGS.OTEL_EXPORTER_OTLP_HEADERS.secret, true);
  });

  it("refuse an address that is none of HTTP, and an empty name", () => {
    const wrong = ["OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL"];
    for (const text of [
      "collector.example:4318",
      "ftp://collector.example",
      "xhttp://a.example",
      "httpss://a.example",
    ]) {
      assert.deepEqual(read({ OTEL_EXPORTER_OTLP_ENDPOINT: text }), wrong, text);
    }
    assert.match(JSON.stringify(traced({ OTEL_SERVICE_NAME: "" })), /^\["OTEL_SERVICE_NAME /);
  });

  it("take a share from 0 to 1", () => {
    for (const text of ["0", "0.1", "0.123456789", "1", "1.0", "1.000000000"]) {
      assert.equal(Object(traced({ OTEL_TRACES_SAMPLER_ARG: text })).share, Number(text), text);
    }
    for (const text of [
      "2",
      "1.1",
      "-0",
      "0.",
      ".5",
      "0.1234567890",
      "1.0000000000",
      "x0",
      "0x",
      "0.x",
      "1e-1",
      "",
    ]) {
      assert.deepEqual(
        traced({ OTEL_TRACES_SAMPLER_ARG: text }),
        ["OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, such as 0.1"],
        text,
      );
    }
  });

  it("take headers as pairs, percent-encoded, and none that would break a request", () => {
    for (const [text, headers] of [
      ["", {}],
      ["a=1", { a: "1" }],
      [" x-key=a%20b%3D ,, y!#$%&'*+.^_`|~Z9=2,", { "x-key": "a b=", "y!#$%&'*+.^_`|~Z9": "2" }],
      ["a=!~%7e%21", { a: "!~~!" }],
    ] as const) {
      assert.deepEqual(Object(traced({ OTEL_EXPORTER_OTLP_HEADERS: text })).headers, headers, text);
    }
    const wrong = ["OTEL_EXPORTER_OTLP_HEADERS must be name=value, comma-separated, percent-encoded"];
    const refused = [
      "nothing",
      "a=",
      "=1",
      "a b=1",
      "a=1 2",
      "a=%0d",
      "a=%7f",
      "a=%7F",
      "a=%80",
      "a=%2",
      "a=%",
      "a=é",
      "a:=1",
    ];
    for (const text of refused) {
      assert.deepEqual(traced({ OTEL_EXPORTER_OTLP_HEADERS: `ok=1,${text}` }), wrong, text);
    }
  });
});
