/** deploy/: its files are well-formed for those who read them, and name settings and metrics that exist. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse, parseAllDocuments } from "yaml";
import * as z from "zod";
import { describeSettings, makeSecrets, readConfig, type Config } from "../src/config.ts";
import { parseHostList } from "../src/database/hosts/host-list.ts";
import { VERSION } from "../src/shared/version.ts";
import { makeMetrics } from "../src/telemetry/metrics.ts";
import {
  findComposeSchema,
  findHelm,
  findPromtool,
  findSystemd,
  findValidator,
} from "./support/deploy-tools.ts";
import { startTestService, type TestService } from "./support/service.ts";

const deploy = join(dirname(import.meta.dirname), "deploy");
const read = (file: string): string => readFileSync(join(deploy, file), "utf8");
const settings = new Set(describeSettings({}).map(({ name }) => name));
/** Of Node, PostgreSQL's image, the Compose file, systemd and psql. */
const OTHERS =
  /^(NODE_ENV|NODE_EXTRA_CA_CERTS|POSTGRES_PASSWORD|POSTERN_PASSWORD|AF_(INET6?|UNIX)|ON_ERROR_STOP)$/;
const readCompose = (file: string): unknown => parse(read(file), { merge: true });
const KUBERNETES = "1.33";
const COMPOSE_FILES = ["compose/compose.yaml", "compose/two-shards.yaml"];

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-deploy-"));
});
after(() => rm(folder, { recursive: true, force: true }));

/** A file of NAME=value lines, with values where it has none. */
function filledIn(file: string): Record<string, string> {
  const secrets: Record<string, string> = { ...makeSecrets(), METRICS_TOKEN: "t" };
  return Object.fromEntries(
    read(file)
      .split("\n")
      .filter((line) => /^[A-Z]/.test(line))
      .map((line) => {
        const [name = "", value = ""] = line.split(/=(.*)/s);
        const bare = value.replace(/^"(.*)"$/, "$1");
        return [name, bare === "" ? (secrets[name] ?? "") : bare];
      }),
  );
}

describe("the files of deploy/", () => {
  it("name no setting that does not exist", () => {
    const files = globSync("{compose,helm,systemd}/**", { cwd: deploy, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(deploy.length + 1));
    assert.ok(files.length > 10, files.join());
    const unknown = files.flatMap((file) =>
      [...read(file).matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)]
        .map(([name]) => name)
        .filter((name) => !settings.has(name) && !OTHERS.test(name))
        .map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(unknown, []);
  });

  it("are of this version, which the changelog tells of", () => {
    for (const file of COMPOSE_FILES)
      assert.match(read(file), new RegExp(`^ {4}image: postern:${VERSION}$`, "m"), file);
    for (const page of ["compose/compose.yaml", "../docs/deploy.md"]) {
      assert.match(read(page), new RegExp(`postern-${VERSION}-linux-x64-image\\.tar`), page);
    }
    const [page = ""] = read("../docs/deploy.md").split("\n## Going back\n");
    const named = [...page.matchAll(/\bpostern-(\d\S*?)-linux-x64/g)].map(([, version]) => version);
    assert.deepEqual([...new Set(named)], [VERSION]);
    const heading = VERSION.endsWith("-dev") ? "\\[Unreleased\\]\n\n### " : `\\[${VERSION}\\] - `;
    assert.match(read("../CHANGELOG.md"), new RegExp(`^## ${heading}`, "m"));
    const chart: unknown = parse(read("helm/postern/Chart.yaml"));
    assert.partialDeepStrictEqual(chart, { version: VERSION, appVersion: VERSION });
  });
});

describe("the Compose files", () => {
  const service = z.object({ environment: z.record(z.string(), z.string()) });

  it("fit the schema of Compose files", (context) => {
    const schema = findComposeSchema();
    if ("missing" in schema) return context.skip(`DID NOT RUN: ${schema.missing}`);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const isValid = ajv.compile(JSON.parse(readFileSync(schema.tool, "utf8")));
    for (const file of COMPOSE_FILES) assert.ok(isValid(readCompose(file)), JSON.stringify(isValid.errors));
    assert.equal(isValid({ services: { postern: { imagge: "x" } } }), false);
  });

  /** What Postern reads, once example.env is filled in. */
  function configOf(file: string): Config {
    const values = { ...filledIn("compose/example.env"), POSTGRES_PASSWORD: "a", POSTERN_PASSWORD: "b" };
    const { environment } = z.object({ services: z.object({ postern: service }) }).parse(readCompose(file))
      .services.postern;
    const filled = Object.fromEntries(
      Object.entries(environment).map(([name, text]) => [
        name,
        text.replaceAll(/\$\{([A-Z_]+)(?::[-?][^}]*)?\}/g, (_, of: string) =>
          z.string().parse(Reflect.get(values, of)),
        ),
      ]),
    );
    return readConfig({ ...filled, NODE_ENV: "production" });
  }

  it("ask whether Postern runs by its own command, which the image has and no other client", () => {
    const health = z.object({ healthcheck: z.object({ test: z.array(z.string()) }) });
    for (const file of COMPOSE_FILES) {
      const { services } = z.object({ services: z.object({ postern: health }) }).parse(readCompose(file));
      assert.deepEqual(services.postern.healthcheck.test, ["CMD", "postern", "health"], file);
    }
  });

  it("give Postern settings that it takes", () => {
    const config = configOf("compose/compose.yaml");
    assert.equal(config.databaseUrl, "postgres://postern:b@postgres:5432/postern");
    assert.equal(config.metricsToken, "t");
    assert.deepEqual(configOf("compose/two-shards.yaml").shards, [
      { name: "s1", url: "postgres://postern:b@postgres1:5432/postern", weight: 1 },
      { name: "s2", url: "postgres://postern:b@postgres2:5432/postern", weight: 1 },
    ]);
  });

  it("name databases that are services of theirs", () => {
    const { services } = z
      .object({ services: z.record(z.string(), z.unknown()) })
      .parse(readCompose("compose/two-shards.yaml"));
    const hosts = configOf("compose/two-shards.yaml").shards?.map(({ url }) => new URL(url).hostname) ?? [];
    assert.deepEqual(
      hosts.filter((host) => !(host in services)),
      [],
    );
    assert.equal(hosts.length, 2);
  });
});

describe("the systemd unit", () => {
  it("gives Postern settings that it takes, once postern.env is filled in", () => {
    const config = readConfig(filledIn("systemd/postern.env"));
    assert.match(config.databaseUrl ?? "", /sslmode=verify-full/);
  });

  it("is one that systemd reads, and leaves the process little", async (context) => {
    const systemd = findSystemd();
    if ("missing" in systemd) return context.skip(`DID NOT RUN: ${systemd.missing}`);
    const unit = join(folder, "postern.service");
    // systemd looks whether the program is there.
    await writeFile(
      unit,
      read("systemd/postern.service").replace("/opt/postern/current/bin/postern", `"${process.execPath}"`),
    );
    assert.deepEqual(systemd.tool(["verify", "--man=no", unit]), { status: 0, output: "" });
    const security = systemd.tool(["security", "--offline=yes", "--threshold=20", "--no-pager", unit]);
    assert.equal(security.status, 0, security.output);
    assert.match(security.output, /Overall exposure level for postern\.service: [01]\.\d OK/);
  });
});

describe("the Helm chart", () => {
  const chart = join(deploy, "helm", "postern");
  const base = ["template", "hooks", chart, "--kube-version", `${KUBERNETES}.0`];
  const store = "settings.OBJECT_STORE_URL=s3://artifacts?region=eu-central-1";
  const every = [store, "podMonitor.enabled=true", "settings.BASE_PATH=/hooks", "settings.RETENTION_DAYS=7"];

  it("renders resources that Kubernetes takes, api and worker apart", async (context) => {
    const [helm, validator] = [findHelm(), findValidator()];
    if ("missing" in helm) return context.skip(`DID NOT RUN: ${helm.missing}`);
    if ("missing" in validator) return context.skip(`DID NOT RUN: ${validator.missing}`);
    const rendered = helm.tool([...base, "--set", every.join()]);
    assert.equal(rendered.status, 0, rendered.output);
    const file = join(folder, "rendered.yaml");
    await writeFile(file, rendered.output);
    const { status, output } = validator.tool(file, KUBERNETES);
    assert.equal(status, 0, output);
    const kinds = parseAllDocuments(rendered.output).map((document) => {
      const { kind, metadata } = z
        .object({ kind: z.string(), metadata: z.object({ name: z.string() }) })
        .parse(document.toJS());
      return `${kind} ${metadata.name}`;
    });
    assert.deepEqual(kinds.sort(), [
      "Deployment hooks-api",
      "Deployment hooks-worker",
      "Job hooks-migrate",
      "PodDisruptionBudget hooks-api",
      "PodDisruptionBudget hooks-worker",
      "PodMonitor hooks",
      "Service hooks",
    ]);
    assert.deepEqual(probesOf(rendered.output), {
      "hooks-api": ["/hooks/ready", "/hooks/health", "/hooks/health"],
      "hooks-worker": ["/hooks/ready", "/hooks/health", "/hooks/ready"],
    });
    assert.match(rendered.output, /name: RETENTION_DAYS\n +value: "7"/);
    await writeFile(file, rendered.output.replaceAll("containerPort: 8080", 'containerPort: "http"'));
    assert.notEqual(validator.tool(file, KUBERNETES).status, 0, "the schemas judge");
  });

  const get = z.object({ httpGet: z.strictObject({ path: z.string(), port: z.literal("http") }) });
  const probes = z.object({ startupProbe: get, livenessProbe: get, readinessProbe: get });
  const deployment = z.object({
    kind: z.literal("Deployment"),
    metadata: z.object({ name: z.string() }),
    spec: z.object({ template: z.object({ spec: z.object({ containers: z.tuple([probes]) }) }) }),
  });

  /** By each deployment's name, what the kubelet asks for at the start, then for liveness and for readiness. */
  function probesOf(resources: string): Record<string, string[]> {
    const found = parseAllDocuments(resources).flatMap((document) => {
      const { success, data } = deployment.safeParse(document.toJS());
      if (!success) return [];
      const [{ startupProbe, livenessProbe, readinessProbe }] = data.spec.template.spec.containers;
      const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
      return [[data.metadata.name, paths] as const];
    });
    return Object.fromEntries(found);
  }

  it("asks for a place of stored artifacts that all processes share", (context) => {
    const helm = findHelm();
    if ("missing" in helm) return context.skip(`DID NOT RUN: ${helm.missing}`);
    const without = helm.tool(base);
    assert.notEqual(without.status, 0);
    assert.match(without.output, /set settings\.OBJECT_STORE_URL or dataClaim/);
    assert.equal(helm.tool([...base, "--set", "dataClaim=shared"]).status, 0);
    assert.equal(helm.tool(["lint", chart, "--set", store]).status, 0);
  });
});

describe("the chart's examples", () => {
  const chart = join(deploy, "helm", "postern");
  const secret = z.object({
    metadata: z.object({ name: z.string() }),
    stringData: z.record(z.string(), z.string()),
  });
  const values = z.object({ settings: z.record(z.string(), z.union([z.string(), z.number()])) });

  /** What a pod reads. */
  function configOf(example: string): Config {
    const { metadata, stringData } = secret.parse(parse(read(`helm/examples/${example}-secret.yaml`)));
    const { settings: own } = values.parse(parse(read(`helm/examples/${example}.yaml`)));
    const defaults = z.object({ existingSecret: z.string() }).parse(parse(read("helm/postern/values.yaml")));
    assert.equal(metadata.name, defaults.existingSecret);
    const texts = Object.entries(own).map(([name, value]) => [name, String(value)] as const);
    const filled = { ...stringData, ...makeSecrets(), METRICS_TOKEN: "t", ...Object.fromEntries(texts) };
    return readConfig({ ...filled, NODE_ENV: "production" });
  }

  it("give Postern settings that it takes", () => {
    const patroni = configOf("patroni");
    assert.equal(patroni.durability, "standby");
    const hosts = parseHostList(patroni.databaseUrl ?? "");
    assert.ok(hosts.kind === "hosts");
    assert.equal(hosts.hosts.length, 3);
    assert.deepEqual(
      configOf("shards").shards?.map(({ name }) => name),
      ["s1", "s2"],
    );
  });

  it("are rendered", (context) => {
    const helm = findHelm();
    if ("missing" in helm) return context.skip(`DID NOT RUN: ${helm.missing}`);
    for (const [example, sign] of [
      ["patroni", /name: DURABILITY\n +value: "standby"/],
      ["shards", /claimName: postern-data/],
    ] as const) {
      const file = join(deploy, "helm", "examples", `${example}.yaml`);
      const { status, output } = helm.tool([
        "template",
        "hooks",
        chart,
        "--kube-version",
        `${KUBERNETES}.0`,
        "--values",
        file,
      ]);
      assert.equal(status, 0, output);
      assert.match(output, sign);
    }
  });
});

describe("the alert rules", () => {
  it("fire on what they are for, and not on a healthy service", async (context) => {
    const promtool = findPromtool();
    if ("missing" in promtool) return context.skip(`DID NOT RUN: ${promtool.missing}`);
    const rules = join(deploy, "prometheus", "postern.rules.yaml");
    const tests = join(import.meta.dirname, "deploy", "postern.rules.test.yaml");
    for (const file of [rules, tests]) await cp(file, join(folder, basename(file)));
    const { status, output } = promtool.tool(["test", "rules", join(folder, basename(tests))]);
    assert.equal(status, 0, output);
  });

  it("each have a test in which they fire", () => {
    const alerts = [...read("prometheus/postern.rules.yaml").matchAll(/- alert: (\w+)/g)].map(
      ([, name]) => name,
    );
    const tested = readFileSync(join(import.meta.dirname, "deploy", "postern.rules.test.yaml"), "utf8");
    assert.ok(alerts.length > 10);
    assert.deepEqual(
      alerts.filter((name) => !tested.includes(`{alertname="${name}"`)),
      [],
    );
  });
});

describe("rules and dashboard", () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.stop());

  const ruleFile = z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })),
  });
  const dashboard = z.object({
    panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })),
  });
  const expressions = [
    ...ruleFile.parse(parse(read("prometheus/postern.rules.yaml"))).groups.flatMap(({ rules }) => rules),
    ...dashboard.parse(JSON.parse(read("grafana/postern.json"))).panels.flatMap(({ targets }) => targets),
  ].map(({ expr }) => expr);

  it("ask only for metrics and labels that the service has", async () => {
    const { text } = await service.call("GET", "/metrics", { as: null });
    const names = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
        type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    );
    // `shard` is on every metric of a database where there are several.
    const labels = new Set(["job", "instance", "le", "shard", ...labelsOfAll()]);
    assert.ok(expressions.length > 40);
    for (const expression of expressions) {
      const asked = [...expression.matchAll(/\b(?:webhook|http_server|storage|process|nodejs)_\w+/g)].map(
        ([name]) => name,
      );
      assert.ok(asked.length > 0 || expression.startsWith("up{"), expression);
      assert.deepEqual(
        asked.filter((name) => !names.has(name)),
        [],
        expression,
      );
      const used = [...expression.matchAll(/by \(([^)]*)\)|[{,](\w+)(?==|!=)/g)].flatMap(
        ([, grouped, matched]) => grouped?.split(/,\s*/) ?? [matched ?? ""],
      );
      assert.ok(used.length > 0, expression);
      assert.deepEqual(
        used.filter((label) => !labels.has(label)),
        [],
        expression,
      );
    }
  });
});

function labelsOfAll(): string[] {
  const metrics = makeMetrics();
  metrics.watchLanes({ waiting: 0, inFlight: 0, weight: 0, backlogs: 0 });
  return metrics.registry
    .getMetricsAsArray()
    .flatMap((metric) =>
      "labelNames" in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [],
    );
}
