import { join } from "node:path";
import {
  dataDirOf,
  environment,
  isProduction,
  readConfig,
  type Config,
  type Environment,
} from "../config.ts";
import { ConfigError } from "../shared/config-error.ts";
import { findSecrets, SECRETS_FILE } from "../demo/demo-secrets.ts";

/** New secrets, as the faults of the settings propose them, open nothing of an installation. */
const OTHER_SETTINGS =
  "If Postern is installed already, run this command with its settings (docs/deploy.md, The service).";

/** The settings of a command beside a running service: see {@link commandEnvironment}. */
export async function readCommandConfig(): Promise<Config> {
  const env = await commandEnvironment();
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError) || hasSecret(env)) throw error;
    throw new ConfigError(`${error.message}\n${OTHER_SETTINGS}`);
  }
}

/** What to do about settings at fault. */
export function settingsRemedy(env: Environment): string {
  const list = "`postern config` lists every setting with what it is for";
  return hasSecret(env) ? list : `${OTHER_SETTINGS} ${list}`;
}

function hasSecret(env: Environment): boolean {
  return ["INTEGRATION_ENCRYPTION_KEY", "SESSION_JWT_SECRET", "SESSION_JWKS_URL"].some(
    (name) => env[name] !== undefined,
  );
}

/** Where no secret is set, those of the demonstration that was started in the data folder. */
export async function commandEnvironment(): Promise<Environment> {
  const env = environment();
  const secrets =
    hasSecret(env) || isProduction(env) ? null : await findSecrets(join(dataDirOf(env), SECRETS_FILE));
  return { ...env, ...secrets };
}
