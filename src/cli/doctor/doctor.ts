import { defineCommand } from "citty";
import { dataDirOf, readConfig, SETTING_NAMES, type Config, type Environment } from "../../config.ts";
import { loadCatalog } from "../../events/catalog.ts";
import { misspelledSettings } from "../../misspelled-settings.ts";
import { paddedSettings } from "../../padded-settings.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { commandEnvironment, settingsRemedy } from "../command-config.ts";
import { withClearErrors } from "../command.ts";
import {
  checkAuthorities,
  checkDatabase,
  checkDataDir,
  checkDns,
  checkNode,
  checkObjectStores,
  checkSessionKeys,
} from "./doctor-checks.ts";
import { checkHosts } from "./doctor-hosts.ts";
import { checkIntake } from "./doctor-intake.ts";
import { checkShards } from "./doctor-shards.ts";
import { counted, type Finding } from "./finding.ts";

export const doctor = defineCommand({
  meta: { name: "doctor", description: "Check everything that Postern needs, and say how to fix it" },
  args: { json: { type: "boolean", description: "As JSON" } },
  run: ({ args }) =>
    withClearErrors(async () => {
      tellFindings(await examine(), args.json === true);
    }),
});

/** Everything is looked at, also after something has failed; without settings that is not much. */
async function examine(): Promise<Finding[]> {
  const env = await commandEnvironment();
  const findings = [checkNode(process.versions.node), await checkDataDir(dataDirOf(env))];
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = settingsRemedy(env);
    const faults = error.message.split("\n");
    return [
      ...findings,
      ...faults.map((detail): Finding => ({ check: "settings", status: "fail", detail, fix })),
      ...checkNames(env),
      ...(await checkCatalog(env)),
    ];
  }
  findings.push({ check: "settings", status: "ok", detail: "complete" });
  return [
    ...findings,
    ...checkNames(env),
    ...(await checkAuthorities(env["NODE_EXTRA_CA_CERTS"])),
    ...(await checkCatalog(env)),
    ...(await checkSessionKeys(config.session)),
    ...(await checkDatabases(config)),
    ...(await checkIntake(config)),
    await checkDns(config.outbound.dnsServers),
    ...(await checkObjectStores(config)),
  ];
}

/** A line for each variable that was most likely meant to be a setting, and for each text with white space around it. */
function checkNames(env: Environment): Finding[] {
  const doubts = [
    { details: misspelledSettings(env, SETTING_NAMES), fix: "correct its name, and restart Postern" },
    { details: paddedSettings(env), fix: "remove the white space unless it is meant, and restart Postern" },
  ];
  return doubts.flatMap(({ details, fix }) =>
    details.map((detail): Finding => ({ check: "settings", status: "warn", detail, fix })),
  );
}

/** A line for each fault of its file, which would keep a start from its work. */
async function checkCatalog({ EVENT_CATALOG: file }: Environment): Promise<Finding[]> {
  const check = "event catalog";
  try {
    const { types } = await loadCatalog(file);
    return [{ check, status: "ok", detail: `${file ?? "built in"}, ${counted(types.size, "type")}` }];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = "correct the file, and try it with `postern catalog check`";
    return error.message.split("\n").map((detail) => ({ check, status: "fail", detail, fix }));
  }
}

async function checkDatabases(config: Config): Promise<Finding[]> {
  if (config.shards !== undefined) return checkShards(config, config.shards);
  return [...(await checkHosts(config)), ...(await checkDatabase(config))];
}

/** The exit code is 1 when something failed. */
export function tellFindings(findings: readonly Finding[], asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(findings, null, 2));
  else for (const finding of findings) print(finding);
  if (findings.some(({ status }) => status === "fail")) process.exitCode = 1;
}

function print(finding: Finding): void {
  console.log(`${finding.status.padEnd(4)}  ${finding.check}: ${finding.detail}`);
  if (finding.status !== "ok") console.log(`      → ${finding.fix}`);
}
