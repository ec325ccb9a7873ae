/** What commands ask of the API, and what they say of its answers. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { userInfo } from "node:os";
import { after, before, describe, it } from "node:test";
import { runHere } from "../../../test/support/command.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { callsOf, sessionsOf, startPretendedApi, userOf } from "../../../test/support/pretended-api.ts";
import { listen } from "../../../test/support/tls-receiver.ts";
import { addressOf, openGivenClient } from "./api-client.ts";

const AT = "2026-01-31T00:00:00.000Z";

let api: Awaited<ReturnType<typeof startPretendedApi>>;
before(async () => {
  api = await startPretendedApi();
});
after(() => api.close());

describe("a command that the API says no to", () => {
  it("prints the answer as it is, and exits with 1", async () => {
    const text = '{"error":"Forbidden"}';
    const ran = await api.run(["tenants", "list"], [{ status: 403, text }]);
    assert.deepEqual([ran.code, ran.printed, ran.errors], [1, `${text}\n`, ""]);
  });

  it("says whose token is not accepted, why, and what to do", async () => {
    const json = { error: "Unauthorized" };
    const headers = {
      "www-authenticate": 'Bearer error="invalid_token", error_description="signed by another key"',
    };
    const ran = await api.run(["tenants", "list"], [{ status: 401, json, headers }]);
    assert.deepEqual([ran.code, ran.printed], [1, '{"error":"Unauthorized"}\n']);
    assert.equal(
      ran.errors,
      `${api.url} does not accept this command's token (signed by another key). Run the command with the SESSION_JWT_SECRET (and SESSION_ISSUER, SESSION_AUDIENCE) of that Postern, or name another with --url.\n`,
    );
    const bare = await api.run(["tenants", "list"], [{ status: 401, json }]);
    assert.match(bare.errors, /does not accept this command's token\. Run/);
    const given = await runHere(["listen", "--forward", "http://localhost:1/", "--url", `${api.url}/none`], {
      ...api.env,
      POSTERN_TOKEN: "eyJhbGciOiJub25lIn0.e30.",
    });
    assert.equal(given.code, 1);
  });

  it("says what is away where the service is unavailable, as /ready has it, and nothing where that has nothing", async () => {
    const text = '{"error":"Service unavailable"}';
    const away = { status: 503, text };
    const warned = { status: "ready", warnings: ["shard eu2: the database cannot be reached"] };
    const list = ["tenants", "list"];
    const ran = await api.run(list, [away, { json: warned }]);
    assert.deepEqual([ran.code, ran.printed], [1, `${text}\n`]);
    assert.equal(ran.errors, `${api.url}/ready: shard eu2: the database cannot be reached\n`);
    assert.deepEqual(callsOf(ran.asked).slice(1), ["GET /ready"]);
    const not = { status: "not ready", reasons: ["the database cannot be reached"], warnings: ["one\nmore"] };
    const other = await api.run(list, [away, { status: 503, json: not }]);
    assert.equal(
      other.errors,
      `${api.url}/ready: the database cannot be reached\n${api.url}/ready: one\\u000amore\n`,
    );
    for (const strange of [{ text: "<html>" }, { json: { warnings: [] } }, { status: 404, json: {} }])
      assert.equal((await api.run(list, [away, strange])).errors, "");
  });

  it("refuses a token of POSTERN_TOKEN that no header can carry, and does not print it", async () => {
    for (const POSTERN_TOKEN of ["eyJh.e30.\ne30", "eyJh.e30.\u20ac", " "]) {
      const words = ["listen", "--forward", "http://localhost:1/", "--url", api.url];
      const ran = await runHere(words, { ...api.env, POSTERN_TOKEN });
      assert.deepEqual(
        [ran.code, ran.errors],
        [1, "postern:\n  POSTERN_TOKEN must be printable ASCII, without spaces around it\n"],
      );
    }
  });

  it("says where nobody answers", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, printed, errors } = await runHere(["tenants", "list", "--url", `${url}/`], api.env);
    assert.deepEqual([code, printed], [1, ""]);
    assert.match(
      errors,
      new RegExp(`^postern:\n  no answer from ${url}: connect ECONNREFUSED .*\n  Start Postern there`),
    );
  });

  it("says the same where an answer ends before its end", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy());
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const { code, printed, errors } = await runHere(["tenants", "list", "--url", url], api.env);
    server.close();
    assert.deepEqual([code, printed], [1, ""]);
    assert.match(errors, new RegExp(`^postern:\n  no answer from ${url}: .*\n  Start Postern there`));
  });

  it("says that something else answers, or an address that is none", async () => {
    const page = "<!doctype html>\n<title>Welcome";
    const shown = "<!doctype html>\\u000a<title>Welcome";
    const location = { location: "https://hooks.example.com/" };
    const answers = [
      [{ text: page }, `${api.url} answered 200, and not as Postern does: ${shown}`],
      [{ status: 502, text: page }, `${api.url} answered 502, and not as Postern does: ${shown}`],
      [{ text: "" }, `${api.url} answered 200, and not as Postern does: the body is empty`],
      [{ status: 308, text: "", headers: location }, `${api.url} redirects to https://hooks.example.com/`],
      [{ json: {} }, "the answer is none of this release of Postern: ✖ Invalid input"],
    ] as const;
    for (const [answer, wrong] of answers) {
      const { code, printed, errors } = await api.run(["publish", "a.b", "--tenant", "acme"], [answer]);
      assert.deepEqual([code, printed], [1, ""]);
      assert.ok(errors.startsWith(`postern:\n  ${wrong}`), errors);
      assert.match(errors, /\n {2}Name the address of Postern's API with --url/);
    }
    for (const [url, fault] of [
      ["localhost:8080", /^postern:\n {2}--url localhost:8080 is no http or https URL/],
      [api.url.replace("//", "//me:secret@"), /^postern:\n {2}--url has a user, a query or a fragment\n$/],
      [`${api.url}/?secret`, /^postern:\n {2}--url has a user, a query or a fragment\n$/],
      [`${api.url}/#secret`, /^postern:\n {2}--url has a user, a query or a fragment\n$/],
    ] as const) {
      const { code, printed, errors } = await runHere(["tenants", "list", "--url", url], api.env);
      assert.deepEqual([code, printed], [1, ""]);
      assert.match(errors, fault);
    }
  });

  it("needs the secret that its token is signed with", async () => {
    const { SESSION_JWT_SECRET: _, ...others } = api.env;
    const keys = {
      SESSION_JWKS_URL: "https://example.com/",
      SESSION_ISSUER: "app",
      SESSION_AUDIENCE: "postern",
    };
    const { code, errors } = await runHere(["tenants", "list"], { ...others, ...keys });
    assert.deepEqual(
      [code, errors.includes("signs its own token and so needs SESSION_JWT_SECRET")],
      [1, true],
    );
  });
});

describe("postern tenants", () => {
  const tenant = { id: "acme", endpoints: 3, enabled: 2, failing: 1, delivered: 10, failed: 4 };
  const erasure = {
    tenant_id: "a/c",
    status: "running",
    rows: 5,
    objects: 6,
    waiting_for: "an upload",
    requested_at: AT,
    finished_at: null,
  };
  const session = { type: "service", tid: "*", sub: "cli", permissions: ["tenants:read", "tenants:erase"] };
  const line = "acme  3 endpoints (2 enabled, 1 failing)  last day: 10 delivered, 4 failed\n";

  it("lists page after page, by the last of each", async () => {
    const full = Array.from({ length: 100 }, (_, place) => ({ ...tenant, id: `t${place}` }));
    const ran = await api.run(
      ["tenants", "list", "--prefix", "t"],
      [{ json: { tenants: full } }, { json: { tenants: [{ ...tenant, shard: "eu1" }] } }],
    );
    assert.deepEqual(callsOf(ran.asked), [
      "GET /api/tenants?prefix=t&after=&limit=100",
      "GET /api/tenants?prefix=t&after=t99&limit=100",
    ]);
    assert.deepEqual(sessionsOf(ran.asked), [session, session]);
    const lines = ran.printed.split("\n");
    assert.equal(lines.length, 102);
    assert.equal(lines[100], line.trim().replace("acme", "acme  eu1"));
    const asJson = await api.run(["tenants", "list", "--json"], [{ json: { tenants: [tenant] } }]);
    assert.deepEqual(JSON.parse(asJson.printed), tenant);
  });

  it("shows one", async () => {
    const ran = await api.run(["tenants", "show", "--tenant", "a/c"], [{ json: { tenant } }]);
    assert.deepEqual([callsOf(ran.asked), ran.printed, ran.errors], [["GET /api/tenants/a%2Fc"], line, ""]);
    const asJson = await api.run(["tenants", "show", "--tenant", "acme", "--json"], [{ json: { tenant } }]);
    assert.deepEqual(JSON.parse(asJson.printed), tenant);
  });

  it("erases one, tells how far it is, and what it waits for", async () => {
    const finished = { ...erasure, status: "finished", waiting_for: null, rows: 7, finished_at: AT };
    const command = ["tenants", "erase", "--tenant", "a/c", "--yes"];
    const ran = await api.run(command, [
      { json: {} },
      { json: { erasure } },
      { json: { erasure: finished } },
    ]);
    assert.deepEqual(callsOf(ran.asked), [
      "DELETE /api/tenants/a%2Fc",
      "GET /api/tenants/a%2Fc/erasure",
      "GET /api/tenants/a%2Fc/erasure",
    ]);
    assert.deepEqual(
      [ran.code, ran.printed, ran.errors],
      [
        0,
        "a/c is erased: 7 rows, 6 versions of stored objects\n",
        "5 rows, 6 objects; waits: an upload\n7 rows, 6 objects\n",
      ],
    );
    const asJson = await api.run([...command, "--json"], [{ json: {} }, { json: { erasure: finished } }]);
    assert.deepEqual([JSON.parse(asJson.printed), asJson.errors], [{ rows: 7, objects: 6 }, ""]);
  });

  it("counts what would be erased, and erases nothing unasked", async () => {
    const dry = ["tenants", "erase", "--tenant", "acme", "--dry-run"];
    const counted = { rows: { events: 3, deliveries: 4 }, is_capped: true, held: 2 };
    const ran = await api.run(dry, [{ json: counted }]);
    assert.deepEqual(callsOf(ran.asked), ["DELETE /api/tenants/acme?dry_run=true"]);
    assert.equal(
      ran.printed,
      "events: 3\ndeliveries: 4\nThere are more: not all were counted.\n2 artifacts are held: end the holds first (postern storage hold --end).\n",
    );
    const nothing = { rows: {}, is_capped: false, held: 0 };
    assert.equal((await api.run(dry, [{ json: nothing }])).printed, "nothing\n");
    assert.deepEqual(JSON.parse((await api.run([...dry, "--json"], [{ json: counted }])).printed), counted);
    const unasked = await api.run(["tenants", "erase", "--tenant", "acme"], []);
    assert.deepEqual([unasked.code, unasked.asked], [1, []]);
    assert.equal(unasked.errors, "postern:\n  Erase all of acme? It cannot be undone. Add --yes.\n");
  });
});

describe("postern publish", () => {
  it("sends data as they were written, versions and a key, as a service of the tenant", async () => {
    const data = '{"n":12345678901234567890}';
    const published = '{"id":"019a2f00-0000-7000-8000-000000000005", "deliveries":1}';
    const ran = await api.run(
      ["publish", "invoice.paid", "--tenant", "acme", "--data", data, "--id", 'k"1'],
      [{ text: published }],
    );
    assert.deepEqual([ran.code, ran.printed], [0, `${published}\n`]);
    assert.deepEqual(callsOf(ran.asked), ["POST /api/events"]);
    assert.equal(ran.asked[0]?.text, `{"type":"invoice.paid","data":${data},"id":"k\\"1"}`);
    assert.deepEqual(sessionsOf(ran.asked), [
      { type: "service", tid: "acme", sub: "cli", permissions: ["events:write"] },
    ]);
    const bare = await api.run(["publish", "a.b", "--tenant", "acme"], [{ text: published }]);
    assert.deepEqual(bare.asked[0]?.json, { type: "a.b", data: {} });
    const versions = await api.run(
      ["publish", "a.b", "--tenant", "acme", "--versions", '{"1":{}}'],
      [{ text: published }],
    );
    assert.deepEqual(versions.asked[0]?.json, { type: "a.b", versions: { 1: {} } });
  });

  it("refuses what is no JSON before it asks, and explains an unknown type", async () => {
    for (const option of ["data", "versions"]) {
      const ran = await api.run(["publish", "a.b", "--tenant", "acme", `--${option}`, "{"], []);
      assert.deepEqual([ran.code, ran.asked, ran.errors], [1, [], `postern:\n  --${option} is not JSON\n`]);
    }
    const text = '{"error":"Bad","issues":[{"code":"unknown_event_type"}]}';
    const unknown = await api.run(["publish", "a.b", "--tenant", "acme"], [{ status: 422, text }]);
    assert.deepEqual([unknown.code, unknown.printed], [1, `${text}\n`]);
    assert.match(
      unknown.errors,
      /^That Postern's event catalog has no type a\.b: add it to the file of EVENT_CATALOG/,
    );
    const other = await api.run(["publish", "a.b", "--tenant", "acme"], [{ status: 422, text: "{}" }]);
    assert.deepEqual([other.code, other.printed, other.errors], [1, "{}\n", ""]);
  });
});

describe("postern listen", () => {
  const LISTEN = ["listen", "--tenant", "acme", "--forward", "http://localhost:1/"];

  it("asks as an owner of the tenant, for the patterns that it is told and a replay of up to a hundred", async () => {
    const words = ["--events", "invoice.* , order.placed", "--secret", "whsec_x", "--replay", "last:100"];
    const ran = await api.run([...LISTEN, ...words], [{ status: 403, text: '"no"' }]);
    assert.deepEqual([ran.code, ran.printed, callsOf(ran.asked)], [1, '"no"\n', ["POST /api/webhooks"]]);
    assert.deepEqual(sessionsOf(ran.asked), [userOf("owner")]);
    assert.deepEqual(ran.asked[0]?.json, {
      url: "https://example.com/listen",
      mode: "pull",
      temporary: true,
      events: ["invoice.*", "order.placed"],
      secret: "whsec_x",
      description: "postern listen",
    });
    const usual = await api.run(LISTEN, [{ status: 403, text: "no" }]);
    assert.deepEqual(Object(usual.asked[0]?.json).events, ["*"]);
  });
});

describe("a call of a command", () => {
  it("goes to an address that can be dialled", () => {
    for (const [host, own] of [
      ["0.0.0.0", "127.0.0.1"],
      ["::", "127.0.0.1"],
      ["::1", "[::1]"],
      ["10.0.0.1", "10.0.0.1"],
    ] as const) {
      assert.equal(addressOf({ host, port: 8080, basePath: "/in" }), `http://${own}:8080/in`);
    }
  });

  it("is given up where it is no longer wanted", async () => {
    const { env } = process;
    process.env = { ...env, POSTERN_TOKEN: "token" };
    const client = openGivenClient(api.url);
    process.env = env;
    await assert.rejects(async () => client?.call("GET", "/", undefined, AbortSignal.abort()), {
      name: "NoAnswerError",
    });
  });
});

describe("postern portal", () => {
  const answer = { json: { url: "https://example.com/portal#code", expires_at: AT } };

  it("prints a link to the list of tenants, or to a tenant's endpoints", async () => {
    const ran = await api.run(["portal"], [answer]);
    assert.deepEqual([ran.code, ran.printed], [0, "https://example.com/portal#code\n"]);
    assert.deepEqual(callsOf(ran.asked), ["POST /api/portal/codes"]);
    assert.deepEqual(sessionsOf(ran.asked), [
      { type: "service", tid: "*", sub: "cli", permissions: ["portal:grant", "tenants:read"] },
    ]);
    const sub = userInfo().username;
    assert.deepEqual(ran.asked[0]?.json, { sub, minutes: 60, tenant_id: "*", path: "/tenants" });
    const options = [
      "--tenant",
      "acme",
      "--role",
      "member",
      "--read-only",
      "--subject",
      "jo",
      "--minutes",
      "5",
    ];
    const ofTenant = await api.run(["portal", ...options], [answer]);
    const json = { sub: "jo", minutes: 5, tenant_id: "acme", role: "member", path: "/endpoints" };
    assert.deepEqual(ofTenant.asked[0]?.json, { ...json, read_only: true });
    const usual = await api.run(["portal", "--tenant", "acme"], [answer]);
    const owner = { ...json, sub, minutes: 60, role: "owner", read_only: false };
    assert.deepEqual(usual.asked[0]?.json, owner);
  });
});
