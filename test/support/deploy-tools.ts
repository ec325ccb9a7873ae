/** The programs that judge deploy/: each from this machine, or brought once into the checkout's cache. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { goBinary, prepareGoProgram, type GoProgram } from "./go-program.ts";
import { folderOf, prepareTool, type Tell, type Tool } from "./prepared-tool.ts";
import { packagesFolder, preparePythonPackages, type PythonPackages } from "./python-packages.ts";

const HELM: GoProgram = {
  name: "helm",
  path: "helm.sh/helm/v3/cmd/helm",
  version: "v3.22.0",
  about: "which renders the chart",
};
const VALIDATOR: PythonPackages = {
  name: "kubernetes-validate",
  requirements: join(import.meta.dirname, "kubernetes-requirements.txt"),
  about: "which judges the chart",
};
const COMPOSE = "github.com/compose-spec/compose-go/v2@v2.16.2";
/** Debian's, without an installation: the package is only unpacked. */
const PROMTOOL: Tool = {
  name: "promtool",
  notice: "Fetching promtool for tests (once, some seconds) …",
  bring: () => [
    { command: "apt-get", args: ["download", "--quiet", "prometheus"] },
    { command: "sh", args: ["-c", "dpkg-deb --extract prometheus_*.deb . && rm prometheus_*.deb"] },
  ],
};

export type Found<T> = { tool: T } | { missing: string };
export type Run = { status: number | null; output: string };

/** Brings what is missing, before the tests: a test's own time limit is too short for it. */
export function prepareDeployTools(tell: Tell): void {
  for (const find of [findHelm, findValidator, findPromtool]) {
    const found = find(tell);
    if ("missing" in found) tell(`${found.missing}: its tests do not run.`);
  }
}

/** Runs `helm`. */
export function findHelm(tell: Tell = () => undefined): Found<(args: string[]) => Run> {
  if (isThere("helm", ["version"])) return { tool: (args) => run("helm", args) };
  const why = prepareGoProgram(HELM, tell);
  return why === null ? { tool: (args) => run(goBinary(HELM), args) } : { missing: why };
}

/** Judges resources, given as YAML, by the schemas of a version of Kubernetes. */
export function findValidator(tell: Tell = () => undefined): Found<(file: string, version: string) => Run> {
  const why = preparePythonPackages(VALIDATOR, tell);
  if (why !== null) return { missing: why };
  return {
    tool: (file, version) =>
      run("python3", ["-m", "kubernetes_validate", "--strict", "-k", version, file], {
        PYTHONPATH: packagesFolder(VALIDATOR),
      }),
  };
}

/** Runs `promtool`. */
export function findPromtool(tell: Tell = () => undefined): Found<(args: string[]) => Run> {
  if (isThere("promtool", ["--version"])) return { tool: (args) => run("promtool", args) };
  const why = prepareTool(PROMTOOL, tell);
  const program = join(folderOf(PROMTOOL), "usr", "bin", "promtool");
  return why === null ? { tool: (args) => run(program, args) } : { missing: why };
}

/** Runs `systemd-analyze`. */
export function findSystemd(): Found<(args: string[]) => Run> {
  if (!isThere("systemd-analyze", ["--version"])) return { missing: "systemd-analyze is not installed" };
  return { tool: (args) => run("systemd-analyze", args) };
}

/** The file with the schema of Compose files, of Compose's own library. */
export function findComposeSchema(): Found<string> {
  const { status, output } = run("go", ["mod", "download", "-json", COMPOSE], { GOFLAGS: "-mod=mod" });
  const [, folder] = /"Dir": "([^"]+)"/.exec(output) ?? [];
  const file = join(folder ?? "", "schema", "compose-spec.json");
  if (status !== 0 || folder === undefined || !existsSync(file)) {
    return { missing: "Compose's schema could not be fetched by Go" };
  }
  return { tool: file };
}

function isThere(command: string, args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}

function run(command: string, args: string[], env: NodeJS.ProcessEnv = {}): Run {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  return { status, output: `${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}` };
}
