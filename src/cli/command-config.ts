import { join } from "node:path";
import { dataDirOf, environment, isProduction, readConfig, type Config } from "../config.ts";
import { findSecrets, SECRETS_FILE } from "../demo/demo-secrets.ts";

/**
 * The settings of a command beside a running service. Where no secret is set,
 * they are those of the demonstration that was started in the data folder.
 */
export async function readCommandConfig(): Promise<Config> {
  const env = environment();
  const isSet = ["INTEGRATION_ENCRYPTION_KEY", "SESSION_JWT_SECRET", "SESSION_JWKS_URL"].some(
    (name) => env[name] !== undefined,
  );
  const secrets = isSet || isProduction(env) ? null : await findSecrets(join(dataDirOf(env), SECRETS_FILE));
  return readConfig({ ...env, ...secrets });
}
