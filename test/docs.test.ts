/** The pages beside the code: that no setting is missing, no link leads nowhere, and their examples work. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { checkArguments } from "../src/cli/arguments.ts";
import { commands } from "../src/cli/commands.ts";
import { HTTP_LIMITS } from "../src/api/http-limits.ts";
import { makeSessionVerifier } from "../src/api/session.ts";
import { sampleEvent, welcomeText } from "../src/demo/welcome.ts";
import { loadCatalog } from "../src/events/catalog.ts";
import { describeSettings } from "../src/config.ts";
import { buildRequestHeaders } from "../src/outbound/request-headers.ts";
import { RESOLVER_LIMITS } from "../src/outbound/resolver.ts";
import { SENDER_LIMITS } from "../src/outbound/send.ts";
import { generateSigningSecret, makeSigningKey } from "../src/outbound/signature.ts";

const root = dirname(import.meta.dirname);
const pages = globSync(["*.md", "docs/**/*.md"], { cwd: root }).map((page) => page.replaceAll("\\", "/"));

const read = (page: string): string => readFileSync(join(root, page), "utf8");

/** What docs/configuration.md says of each setting, by name. */
const rows = new Map(
  [...read("docs/configuration.md").matchAll(/^\| `([A-Z_]+)` \|(.*)\|$/gm)].map(([, name, rest]) => [
    name ?? "",
    rest ?? "",
  ]),
);

describe("docs/configuration.md", () => {
  const settings = describeSettings({});

  it("has a row for each setting of src/config.ts, and for nothing else", () => {
    assert.deepEqual([...rows.keys()].sort(), settings.map(({ name }) => name).sort());
  });

  it("names the default of each setting that has one", () => {
    const wrong = settings.filter(({ name, value }) => value !== "" && !hasDefault(name, value));
    assert.deepEqual(wrong, []);
  });
});

function hasDefault(name: string, value: string): boolean {
  return rows.get(name)?.includes(`| \`${value}\` |`) === true;
}

describe("the README's start", () => {
  const readme = read("README.md");
  const welcome = welcomeText({
    apiUrl: "http://127.0.0.1:8080",
    portalCode: "…",
    receiver: { url: "https://127.0.0.1:8443/webhooks", isMoved: false },
    secretsFile: ".postern/demo-secrets.json",
    envFile: ".postern/demo.env",
    dataDir: null,
    today: "2026-01-01",
    tenant: "demo",
    sample: sampleEvent({ types: new Map(), faultsOf: () => [] }, false),
  });

  it("shows what `npm start` prints first", () => {
    const [first = ""] = welcome.trim().split("\n\nFirst, the tokens:");
    assert.ok(readme.includes(`\n${first}\n`), first);
  });

  it("has the lines to paste that `npm start` prints", () => {
    const lines = welcome.split("\n").filter((line) => /^(curl|\.) /.test(line));
    assert.equal(lines.length, 4);
    const pasted = new Set(readme.split("\n").map((line) => line.replace(/ +# .*$/, "")));
    for (const line of lines) assert.ok(pasted.has(line), line);
  });
});

describe("the README's own event types", () => {
  it("are a catalog that Postern takes, which has to be named by EVENT_CATALOG and lacks invoice.paid", async () => {
    const readme = read("README.md");
    assert.match(readme, /^EVENT_CATALOG=catalog\.yaml npm start$/m);
    const folder = await mkdtemp(join(tmpdir(), "postern-readme-catalog-"));
    try {
      const file = join(folder, "catalog.yaml");
      await writeFile(file, codeBlock("README.md", "yaml", "parcel.sent"));
      const { types } = await loadCatalog(file);
      assert.deepEqual([types.has("parcel.sent"), types.has("invoice.paid")], [true, false]);
      assert.ok((await loadCatalog(undefined)).types.has("invoice.paid"));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("the README's way to verify a request", () => {
  const secret = generateSigningSecret();
  const ownSecret = "brought along from elsewhere";
  const body = JSON.stringify({ event: "invoice.paid", data: { note: "süß 🍰" } });
  const signed = buildRequestHeaders({
    version: "0.0.0",
    eventType: "invoice.paid",
    deliveryLabel: "test-1",
    webhookId: "01a1fbb6-32be-7099-847a-56bd4ed42b7a",
    timestampSeconds: Math.floor(Date.now() / 1000),
    body,
    signingKeys: [makeSigningKey(ownSecret), makeSigningKey(secret)],
    staticHeaders: {},
  });
  const headers = Object.fromEntries(
    Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const stale = { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 301) };
  /** Two forgeries: \u00b2 is a digit to Python, and no number; the other has more digits than it reads. */
  const noNumber = { ...headers, "webhook-timestamp": "\u00b2" };
  const tooLong = { ...headers, "webhook-timestamp": "9".repeat(5_000) };
  /** A request as it came, twice, one with another body, a replay, forgeries, and one without any of the headers. */
  const requests = [
    { secret, headers, body },
    { secret: ownSecret, headers, body },
    { secret, headers, body: `${body} ` },
    { secret, headers: stale, body },
    { secret, headers: noNumber, body },
    { secret, headers: tooLong, body },
    { secret, headers: {}, body },
  ];
  const answers = [true, true, false, false, false, false, false];

  it("in Node accepts a signed request and refuses an altered, an old and an unsigned one", async () => {
    const code = Buffer.from(codeBlock("README.md", "js", "function verify")).toString("base64");
    const { verify } = await import(`data:text/javascript;base64,${code}`);
    const verdicts = requests.map((one) => verify(one.secret, one.headers, Buffer.from(one.body)));
    assert.deepEqual(verdicts, answers);
  });

  it("in Python does the same", { skip: !hasPython() }, () => {
    const program = `${codeBlock("README.md", "python", "def verify")}
import json, sys
print(json.dumps([verify(one["secret"], one["headers"], one["body"].encode()) for one in json.load(sys.stdin)]))
`;
    const input = JSON.stringify(requests);
    const run = spawnSync("python3", ["-c", program], { input, encoding: "utf8" });
    assert.equal(run.status, 0, run.stderr);
    assert.deepEqual(JSON.parse(run.stdout), answers);
  });
});

describe("the README's way to sign a token", () => {
  const secret = "a secret of at least thirty-two bytes";
  const given = { type: "user", tid: "acme", sub: "jo@acme.example", role: "admin" };
  const sessionOf = (token: string) =>
    makeSessionVerifier({ kind: "secret", secret }).verify(`Bearer ${token}`);

  it("in Node makes one that the API takes", async () => {
    const code = Buffer.from(codeBlock("README.md", "js", "function sign")).toString("base64");
    const { sign } = await import(`data:text/javascript;base64,${code}`);
    const { type, tenantId, role, subject } = await sessionOf(sign(secret, given));
    assert.deepEqual({ type, tid: tenantId, sub: subject, role }, given);
    await assert.rejects(sessionOf(sign(secret, given, -60)), { code: "unauthorized" });
    await assert.rejects(sessionOf(sign(`another ${secret}`, given)), { code: "unauthorized" });
  });

  it("in Python does the same", { skip: !hasPython() }, async () => {
    const program = `${codeBlock("README.md", "python", "def sign")}
import sys
print(sign(*json.load(sys.stdin)), end="")
`;
    const run = spawnSync("python3", ["-c", program], {
      input: JSON.stringify([secret, given]),
      encoding: "utf8",
    });
    assert.equal(run.status, 0, run.stderr);
    const { type, tenantId, role, subject } = await sessionOf(run.stdout);
    assert.deepEqual({ type, tid: tenantId, sub: subject, role }, given);
  });
});

/** The page's block of code in a language that has these words. */
function codeBlock(page: string, language: string, words: string): string {
  const blocks = read(page).matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  const code = Array.from(blocks, ([, text = ""]) => text).find((text) => text.includes(words));
  assert.ok(code !== undefined, `${page} has no block of ${language} with ${words}`);
  return code;
}

function hasPython(): boolean {
  return spawnSync("python3", ["-c", "import hmac, sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;
}

describe("tables of threats, of limits and of crashes", () => {
  const crashes =
    "| what fails | accepted events | attempts in flight | who continues, and when | shown by |";
  for (const [page, header, least] of [
    ["docs/threat-model.md", "| | threat | mitigation | shown by |", 21],
    ["docs/security.md", "| category | rule or limit | ends as | shown by |", 21],
    ["docs/operating.md", crashes, 15],
  ] as const) {
    it(`name in each row a test that exists: ${page}`, () => {
      const tables = read(page).split(`${header}\n`).slice(1);
      const rows = tables.flatMap((text) => text.trimEnd().split("\n\n")[0]?.split("\n").slice(1) ?? []);
      assert.ok(rows.length >= least, `${rows.length} rows`);
      const without = rows.filter((row) => {
        const tests = linksOf(row.split("|").at(-2) ?? "").filter((link) => link.endsWith(".test.ts"));
        return tests.length === 0 || !tests.every((link) => leadsSomewhere(page, link));
      });
      assert.deepEqual(without, []);
    });
  }
});

const seconds = (ms: number) => `${ms / 1000} s`;
const kib = (bytes: number) => `${bytes / 1024} KiB`;

describe("the limits of docs/security.md", () => {
  const page = read("docs/security.md");
  const tells = (text: string) => assert.ok(page.includes(text), text);

  it("are those of requests to Postern", () => {
    const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, stallTimeoutMs, ...limits } = HTTP_LIMITS;
    tells(`| request line and headers | ${kib(limits.maxHeaderBytes)}; trailers too |`);
    assert.equal(limits.checkEveryMs, 1000);
    tells(`| ${seconds(headersTimeoutMs)}, ${seconds(requestTimeoutMs)}; checked each second |`);
    tells(`| an idle connection | ${seconds(keepAliveTimeoutMs)} |`);
    tells(`| ${seconds(stallTimeoutMs)} without a byte either way |`);
    tells(
      `| ${limits.maxLogAnswers} per process; others wait for up to ${seconds(limits.logTurnTimeoutMs)},`,
    );
    const [all, each] = [limits.maxConnections, limits.maxConnectionsPerAddress].map((count) =>
      count.toLocaleString("en"),
    );
    tells(`| ${all} per process, ${each} per address (`);
    tells(`except for ${limits.reservedConnections} that serve `);
  });

  it("are those of what Postern sends", () => {
    const { connectTimeoutMs, keepAliveTimeoutMs, keepAliveMaxTimeoutMs, ...limits } = SENDER_LIMITS;
    tells(`gone | ${seconds(RESOLVER_LIMITS.lookupTimeoutMs)} for both families |`);
    tells(`| no answer; headers or body byte by byte | ${seconds(limits.attemptTimeoutMs)} in total |`);
    tells(`| endless 1xx | ${limits.maxInformationalAnswers} of them, ${kib(limits.maxAnswerBytes)} |`);
    tells(`| huge or endless headers | ${kib(limits.maxHeaderBytes)} |`);
    tells(`| ${kib(limits.maxBodyBytes)} of body, ${kib(limits.maxAnswerBytes)} on the wire |`);
    tells(`| TLS that stops half-way | ${seconds(connectTimeoutMs)} to connect |`);
    const [idle, most, age] = [keepAliveTimeoutMs, keepAliveMaxTimeoutMs, limits.maxConnectionAgeMs].map(
      seconds,
    );
    tells(`| endless keep-alive | ${idle} idle, ${most} at most, ${age} of age |`);
  });
});

describe("the pages", () => {
  it("call the program with commands and options that it has", async () => {
    const calls = pages.flatMap((page) => callsOf(read(page)).map((words) => ({ page, words })));
    assert.ok(calls.length > 50, `${calls.length} calls`);
    for (const { page, words } of calls) {
      await assert.doesNotReject(checkArguments(commands, words), `${page}: postern ${words.join(" ")}`);
    }
  });

  it("link only to files and headings that exist", () => {
    assert.ok(pages.includes("README.md"));
    const dead = pages.flatMap((page) =>
      linksOf(read(page))
        .filter((link) => !leadsSomewhere(page, link))
        .map((link) => `${page} → ${link}`),
    );
    assert.deepEqual(dead, []);
  });
});

/** The targets of a page's links and pictures that stay within the repository; code is no link. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)|\b(?:src|href|srcset)="([^"]+)"/g)]
    .map(([, markdown, html]) => markdown ?? html ?? "")
    .filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(target)) return false;
  return heading === undefined || anchorsOf(readFileSync(target, "utf8")).has(heading);
}

/** Headings as GitHub names them in links. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading ?? "");
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** The words behind each `postern` of a page's shell commands, up to the end of its command. */
function callsOf(text: string): string[][] {
  const shell = [...text.matchAll(/^ *```sh\n([^]*?)^ *```/gm)].map(([, block = ""]) => block);
  const calls = shell
    .join("\n")
    .matchAll(/(?:^ *|[(;&|] *|exec (?:postern )?)(?:npm run -s )?postern (.*)$/gm);
  return [...calls].map(([, line = ""]) => {
    const [command = ""] = /^(?:'[^']*'|"(?:\\.|[^"\\])*"|[^'"#|;&)<>])*/.exec(line) ?? [];
    const words = [...command.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+/g)].map(([word]) => word);
    return words[0] === "--" ? words.slice(1) : words;
  });
}
