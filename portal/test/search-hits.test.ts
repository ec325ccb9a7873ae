/** The search's hits: each once, in their order, with the page to which it leads. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadModule } from "./support/page.ts";

type Hit = { kind: string; label: string; about?: string; open: (navigate: (to: object) => void) => void };
type Endpoint = { id: string; url: string; description: string | null };

const { groupsOf, describedAs } = await loadModule<{
  groupsOf: (
    hits: {
      pages: readonly Hit[];
      found: readonly { kind: string; href: string }[];
      described: readonly Endpoint[];
    },
    names: ReadonlyMap<string, string>,
  ) => { kind: string; hits: readonly Hit[] }[];
  describedAs: (endpoints: readonly Endpoint[], q: string) => Endpoint[];
}>("search/hits.ts");

const names = new Map([["e1", "example.com/named"]]);
const endpoint = (id: string, description: string | null = null): Endpoint => ({
  id,
  description,
  url: `https://example.com/${id}`,
});

/** Version 7, of that time. */
function idAt(time: string): string {
  const hex = Date.parse(time).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

function targetOf({ open }: Hit): object {
  const targets: object[] = [];
  open((target) => targets.push(target));
  assert.equal(targets.length, 1);
  return targets[0] ?? {};
}

function onlyHit(href: string, kind: string): Hit {
  const [group, ...others] = groupsOf({ pages: [], found: [{ kind, href }], described: [] }, names);
  assert.deepEqual(others, []);
  assert.equal(group?.kind, kind);
  assert.equal(group.hits.length, 1);
  const [hit] = group.hits;
  assert.ok(hit !== undefined);
  return hit;
}

describe("what was found", () => {
  it("has its kinds in one order, and no kind of which nothing was found", () => {
    const page = { kind: "page", label: "Endpoints", open: () => undefined };
    const found = [
      { kind: "event_type", href: "/api/webhooks/events?type=a.b" },
      { kind: "delivery", href: "/api/deliveries/d1" },
      { kind: "endpoint", href: "/api/webhooks/e1" },
    ];
    const groups = groupsOf({ pages: [page], found, described: [endpoint("e2", "Books")] }, names);
    assert.deepEqual(
      groups.map(({ kind, hits }) => [kind, hits.map(({ label, about }) => [label, about])]),
      [
        ["page", [["Endpoints", undefined]]],
        [
          "endpoint",
          [
            ["example.com/named", undefined],
            ["example.com/e2", "Books"],
          ],
        ],
        ["delivery", [["d1", undefined]]],
        ["event_type", [["a.b", undefined]]],
      ],
    );
  });

  it("has an endpoint once that is found by its URL and by its description", () => {
    const found = [{ kind: "endpoint", href: "/api/webhooks/e1" }];
    const [group] = groupsOf({ pages: [], found, described: [endpoint("e1", "Books")] }, names);
    assert.deepEqual(
      group?.hits.map(({ label, about }) => [label, about]),
      [["example.com/named", undefined]],
    );
  });

  it("leads to where it is here", () => {
    assert.deepEqual(targetOf(onlyHit("/api/webhooks/e1", "endpoint")), {
      to: "/endpoints/$endpointId",
      params: { endpointId: "e1" },
    });
    assert.deepEqual(targetOf(onlyHit("/api/deliveries/d1", "delivery")), {
      to: "/log",
      search: { range: "30d", d: "d1" },
    });
    assert.deepEqual(targetOf(onlyHit("/api/webhooks/events?type=a.b%402", "event_type")), {
      to: "/events",
      search: { type: "a.b@2" },
    });
    const described = groupsOf({ pages: [], found: [], described: [endpoint("e2", "Books")] }, names);
    assert.deepEqual(described[0]?.hits.map(targetOf), [
      { to: "/endpoints/$endpointId", params: { endpointId: "e2" } },
    ]);
  });

  it("leads to an event's deliveries, however old it is", () => {
    const young = idAt(new Date().toISOString());
    const hit = onlyHit(`/api/events/${young}`, "event");
    assert.equal(hit.label, young);
    assert.deepEqual(targetOf(hit), {
      to: "/log",
      search: { range: "30d", to: undefined, event: young },
    });
    const old = idAt("2026-01-01T12:00:00.000Z");
    assert.deepEqual(targetOf(onlyHit(`/api/events/${old}`, "event")), {
      to: "/log",
      search: { range: undefined, from: "2026-01-01T11:00:00.000Z", to: undefined, event: old },
    });
  });

  it("is named by its id where the endpoint is not known here", () => {
    assert.equal(onlyHit("/api/webhooks/e9", "endpoint").label, "e9");
  });
});

describe("endpoints by their description", () => {
  it("are ten at most, in any case, and none where nothing is asked", () => {
    const many = Array.from({ length: 12 }, (_, n) => endpoint(`e${n}`, n === 3 ? null : `Books ${n}`));
    assert.deepEqual(
      describedAs(many, "bOOks").map(({ id }) => id),
      ["e0", "e1", "e2", "e4", "e5", "e6", "e7", "e8", "e9", "e10"],
    );
    assert.deepEqual(describedAs(many, ""), []);
    assert.deepEqual(describedAs(many, "null"), []);
  });
});
