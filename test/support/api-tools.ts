/**
 * The programs that read the OpenAPI document as its users do: a linter, and
 * generators of clients in three languages. Each is installed when a test first
 * asks for it; what cannot be had on a machine is told, and its test does not run.
 */
import { execFile, spawnSync } from "node:child_process";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { goBinary, prepareGoProgram, type GoProgram } from "./go-program.ts";
import { installOwnPackages } from "./own-packages.ts";
import { packagesFolder, preparePythonPackages, type PythonPackages } from "./python-packages.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const DOCUMENT = join(ROOT, "docs", "openapi.json");
const FOLDER = join(import.meta.dirname, "..", "api-tools");
const BIN = join(FOLDER, "node_modules", ".bin");
/** What is generated lies here until it is generated anew. */
const GENERATED = join(ROOT, ".cache", "api-clients");

const OAPI_CODEGEN: GoProgram = {
  name: "oapi-codegen",
  path: "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen",
  version: "v2.8.2",
  about: "a generator of clients in Go",
};
const PYTHON_CLIENT: PythonPackages = {
  name: "openapi-python-client",
  requirements: join(FOLDER, "python", "requirements.txt"),
  about: "a generator of clients in Python",
};

type Tell = (line: string) => void;
type Run = { stdout: string; stderr: string };

/** Installs what can be had. By language, why a client of it cannot be made; null for those that can. */
export async function prepareApiTools(
  tell: Tell = () => undefined,
): Promise<Record<Language, string | null>> {
  await installOwnPackages(FOLDER, () =>
    tell("Installing programs that read the API's document (once, 100 MB) …"),
  );
  return {
    TypeScript: null,
    // Their programs may be here from before, and what runs their clients is gone.
    Python: runs("python3", "--version")
      ? preparePythonPackages(PYTHON_CLIENT, tell)
      : "Python is not installed, so its client was not run",
    Go: runs("go", "version")
      ? prepareGoProgram(OAPI_CODEGEN, tell)
      : "Go is not installed, so its client was not compiled",
  };
}

function runs(command: string, argument: string): boolean {
  return spawnSync(command, [argument]).status === 0;
}

/** The faults that Spectral finds in a document, a line each. Call `prepareApiTools` first. */
export async function lintWithSpectral(document: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(FOLDER, "lint.mjs"), document]).catch(
    (error: Run & { code: unknown }) => {
      if (error.code === 1 && error.stdout !== "") return error;
      throw error;
    },
  );
  return stdout;
}

export type Language = "TypeScript" | "Python" | "Go";

/** The types of the document, as the portal's client has them. Call `prepareApiTools` first. */
export async function generateTypes(): Promise<string> {
  return run(process.execPath, [join(BIN, "openapi-typescript"), DOCUMENT], FOLDER);
}

/** Generates a client from the committed document, compiles it with the program beside it, and runs that. Answers its output. */
export async function runClient(language: Language, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(GENERATED, language.toLowerCase());
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(FOLDER, language.toLowerCase()), folder, { recursive: true });
  return CLIENTS[language](folder, { ...process.env, ...env });
}

const CLIENTS: Readonly<Record<Language, (folder: string, env: NodeJS.ProcessEnv) => Promise<string>>> = {
  async TypeScript(folder, env) {
    await symlink(join(FOLDER, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await run(process.execPath, [join(BIN, "openapi-typescript"), DOCUMENT, "--output", "api.d.ts"], folder);
    const settings = "--noEmit --strict --module nodenext --target es2023 --allowImportingTsExtensions";
    const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules", "@types")];
    await run(process.execPath, [join(BIN, "tsc"), ...settings.split(" "), ...types, "client.ts"], folder);
    return run(process.execPath, ["client.ts"], folder, env);
  },
  async Python(folder, env) {
    const withPackages = { ...env, PYTHONPATH: packagesFolder(PYTHON_CLIENT) };
    // Hooks would format what nobody reads.
    await writeFile(join(folder, "config.yaml"), "post_hooks: []\n");
    const settings = ["--meta", "none", "--config", "config.yaml", "--fail-on-warning"];
    const target = ["--path", DOCUMENT, "--output-path", "postern"];
    const args = ["-m", "openapi_python_client", "generate", ...settings, ...target];
    await run("python3", args, folder, withPackages);
    await run("python3", ["-m", "compileall", "-q", "postern"], folder, withPackages);
    return run("python3", ["client.py"], folder, withPackages);
  },
  async Go(folder, env) {
    const args = ["-generate", "types,client", "-package", "main", "-o", "client.gen.go", DOCUMENT];
    await run(goBinary(OAPI_CODEGEN), args, folder);
    await run("go", ["vet", "."], folder, env);
    return run("go", ["run", "."], folder, env);
  },
};

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env = process.env,
): Promise<string> {
  try {
    return (await promisify(execFile)(command, args, { cwd, env })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" }: Partial<Run> = Object(error);
    throw new Error(`${command} ${args.join(" ")} failed: ${stdout}${stderr}`, { cause: error });
  }
}
