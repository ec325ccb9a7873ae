/** What an address says: a page's own query, and the bound of the next page. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { instant, oneOf, text } from "../src/url/search.ts";
import { loadModule } from "./support/page.ts";

const { pageOf } = await loadModule<{
  pageOf: (response: Response, name: "before" | "after") => string | null;
}>("url/link.ts");

describe("a value of the query", () => {
  const gone = { a: undefined };

  it("is as if it were not there where it does not fit, so that it is laid over the one in the address", () => {
    for (const a of ["", 1, null, ["x"]]) assert.deepEqual(text({ a }, "a"), gone, JSON.stringify(a));
    assert.deepEqual(oneOf({ a: "c" }, "a", ["b"]), gone);
    // A browser takes some of them for a time: "5" for May 2001.
    const noTimes = [
      "",
      "soon",
      "2026-13-01T00:00:00Z",
      "2026-02-30T00:00:00Z",
      "2026-11-01T08:00:30",
      "2026-11-01T08:00Z",
      "2026-11-01T24:00:00Z",
      "2026-11-01",
      "1 Nov 2026",
      "5",
      5,
    ];
    for (const a of noTimes) assert.deepEqual(instant({ a }, "a"), gone, String(a));
  });

  it("is not there where the address does not name it", () => {
    for (const parsed of [text({}, "a"), oneOf({}, "a", ["b"]), instant({}, "a")])
      assert.deepEqual(Object.keys(parsed), []);
    assert.deepEqual(Object.keys(text({}, "toString")), []);
  });

  it("is what it says where it fits", () => {
    assert.deepEqual(text({ a: " x " }, "a"), { a: " x " });
    assert.deepEqual(oneOf({ a: "c" }, "a", ["b", "c"]), { a: "c" });
    for (const a of ["2026-11-01T08:00:30Z", "2026-11-01T23:59:59.000Z", "2026-11-01T08:00:30.123456+05:30"])
      assert.deepEqual(instant({ a }, "a"), { a });
  });
});

const bound = (link: string | null) =>
  pageOf(new Response("", { headers: link === null ? {} : { Link: link } }), "before");

describe("the bound of the next page", () => {
  it("is that of the link which leads to it, decoded", () => {
    assert.equal(bound('</api/deliveries?limit=5&before=a%2Bb>; rel="next"'), "a+b");
    const first = '</api/deliveries?before=first>; rel="first"';
    assert.equal(bound(`${first}, </api/deliveries?before=second>; rel="next"`), "second");
  });

  it("is none on the last page, nor of a link to something else", () => {
    for (const link of [
      null,
      '</api/deliveries?before=a>; rel="first"',
      '</api/deliveries?after=a>; rel="next"',
    ])
      assert.equal(bound(link), null);
  });
});
