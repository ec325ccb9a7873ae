import assert from "node:assert/strict";
import { it } from "node:test";
import { pino } from "pino";
import { Refusal } from "../shared/refusal.ts";
import { StoreUnavailableError } from "../storage/bytes/bucket.ts";
import { makeOutageLog } from "./outage-log.ts";

it("outages that callers meet are one line in ten seconds with their cause, and refusals and faults none", (test) => {
  let nowMs = performance.now();
  test.mock.method(performance, "now", () => nowMs);
  const lines: unknown[] = [];
  const write = (line: string) => {
    const { level, msg, times, err } = JSON.parse(line);
    lines.push([level, msg, times, err.message]);
  };
  const tell = makeOutageLog(pino({ base: null, formatters: { level: (level) => ({ level }) } }, { write }));
  for (const error of [new Refusal("unavailable"), new TypeError("a fault")]) tell(error);
  assert.deepEqual(lines, []);
  tell(new StoreUnavailableError("its credentials are not accepted"));
  tell(Object.assign(new Error("away"), { code: "ECONNREFUSED" }));
  const msg = "callers get 503: the database, the object store or the stream did not serve them";
  assert.deepEqual(lines.splice(0), [["warn", msg, 1, "its credentials are not accepted"]]);
  nowMs += 9999;
  tell(new StoreUnavailableError("away"));
  assert.deepEqual(lines, []);
  nowMs += 1;
  tell(new StoreUnavailableError("still away"));
  assert.deepEqual(lines.splice(0), [["warn", msg, 3, "still away"]]);
  nowMs += 10_000;
  tell(new Refusal("unavailable", { cause: new Error("no commit") }));
  tell(new Refusal("not_found", { cause: new Error("no row") }));
  assert.deepEqual(lines, [["warn", msg, 1, "no commit"]]);
});
