/** How endpoints are named, and told apart where they share a name. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shortened } from "../src/ui/shortened.ts";
import { loadModule } from "./support/page.ts";

type Endpoint = { id: string; url: string; description: string | null };

const { choicesOf, choiceName, nameOf } = await loadModule<{
  choicesOf: (endpoints: readonly Endpoint[]) => { id: string; name: string }[];
  choiceName: (url: string) => string;
  nameOf: (url: string) => string;
}>("endpoints/endpoint-names.ts");

describe("an endpoint's name", () => {
  it("is its URL without the scheme that all have", () => {
    assert.equal(nameOf("https://example.com/a?b=https://c"), "example.com/a?b=https://c");
  });

  it("begins in a choice with what differs most", () => {
    assert.equal(choiceName("https://example.com/"), "example.com");
    assert.equal(choiceName("https://example.com:8443/hooks?team=1"), "/hooks?team=1 · example.com:8443");
    assert.equal(choiceName("https://example.com/?team=1"), "/?team=1 · example.com");
  });

  it("has a mark where others have it too: a description of its own, or else the end of the id", () => {
    const url = "https://example.com/hooks";
    const endpoint = (id: string, description: string | null, own = url) => ({ id, description, url: own });
    const names = choicesOf([
      endpoint("0000-aaaaaa", "Books"),
      endpoint("0000-bbbbbb", "Mails"),
      endpoint("0000-cccccc", "Mails"),
      endpoint("0000-dddddd", null),
      endpoint("0000-eeeeee", "Alone", "https://example.com/alone"),
    ]).map(({ name }) => name);
    assert.deepEqual(names, [
      "Books · /hooks · example.com",
      "Mails bbbbbb · /hooks · example.com",
      "Mails cccccc · /hooks · example.com",
      "dddddd · /hooks · example.com",
      "/alone · example.com",
    ]);
  });
});

describe("a long text", () => {
  it("loses its midst, and has 120 characters then", () => {
    const whole = "a".repeat(60) + "z".repeat(60);
    assert.equal(shortened(whole), whole);
    const long = shortened(`${whole}z`);
    assert.equal(long, `${"a".repeat(60)}${"z".repeat(29)}…${"z".repeat(30)}`);
    assert.equal(long.length, 120);
  });
});
