import { join } from "node:path";
import {
  dataDirOf,
  environment,
  isProduction,
  readConfig,
  type Config,
  type Environment,
} from "../config.ts";
import { findSecrets, SECRETS_FILE } from "../demo/demo-secrets.ts";

/** The settings of a command beside a running service: see {@link commandEnvironment}. */
export async function readCommandConfig(): Promise<Config> {
  return readConfig(await commandEnvironment());
}

/** Where no secret is set, those of the demonstration that was started in the data folder. */
export async function commandEnvironment(): Promise<Environment> {
  const env = environment();
  const isSet = ["INTEGRATION_ENCRYPTION_KEY", "SESSION_JWT_SECRET", "SESSION_JWKS_URL"].some(
    (name) => env[name] !== undefined,
  );
  const secrets = isSet || isProduction(env) ? null : await findSecrets(join(dataDirOf(env), SECRETS_FILE));
  return { ...env, ...secrets };
}
