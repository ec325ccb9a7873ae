import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { maskUrl } from "./mask-url.ts";

describe("maskUrl", () => {
  const cases: [given: string, kept: string][] = [
    ["https://hooks.example.com/in/7", "https://hooks.example.com/in/7"],
    ["https://hooks.example.com/@scope", "https://hooks.example.com/@scope"],
    ["https://hooks.example.com/in?token=abc", "https://hooks.example.com/in?…"],
    ["https://hooks.example.com/in#abc", "https://hooks.example.com/in#…"],
    ["https://ada:hunter2@example.com/", "https://…@example.com/"],
    ["https://ada:p@ss@example.com/", "https://…@example.com/"],
    ["ht\ntps:\t//ada:hunter2@example.com/", "https://…@example.com/"],
    ["  https:\\\\ada:hunter2@example.com\\", "https:\\\\…@example.com\\"],
    ["https://ada:hunt/er2@example.com/", "https://…@example.com/"],
    ["https://example.com:8443/@scope", "https://example.com:8443/@scope"],
    ["https://[2001:db8::1]:8443/@scope", "https://[2001:db8::1]:8443/@scope"],
    ["https:ada:hunter2@example.com", "https:…@example.com"],
    ["https://example.com/whsec_c2VjcmV0/x", "https://example.com/whsec_…"],
    ["", ""],
  ];
  for (const [given, kept] of cases) {
    it(`keeps of ${JSON.stringify(given)} ${JSON.stringify(kept)}`, () => {
      assert.equal(maskUrl(given), kept);
    });
  }

  it("never keeps a user's password or a query, wherever they stand and whatever is around them", () => {
    const around = fc.stringMatching(/^[a-z0-9.:-]{0,12}$/);
    const scheme = fc.constantFrom("https://", "https:", "https:///", "HTTP:\\", " https://", "h\tttps://");
    fc.assert(
      fc.property(scheme, around, around, (start, user, host) => {
        assert.ok(!maskUrl(`${start}${user}:PASSWORD@${host}/p?q=TOKEN#TOKEN`).match(/PASSWORD|TOKEN/));
      }),
    );
  });

  it("is short, whatever it is given", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 5000 }), (text) => maskUrl(text).length < 2060),
    );
  });
});
