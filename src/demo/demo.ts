/**
 * The demonstration: Postern with secrets of its own making and a receiver to
 * send to. It alone opens the receiver's loopback address and trusts its CA.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { issueToken, type TokenClaims } from "../api/session-token.ts";
import { dataDirOf, makeSecrets, type Environment, type SharedSecret } from "../config.ts";
import type { Catalog } from "../events/catalog.ts";
import { createTenantPool, type TenantPool } from "../database/tenant-pool.ts";
import { readTenantSecrets } from "../endpoints/send-target.ts";
import { MAX_SESSION_MINUTES } from "../portal/portal-session.ts";
import type { StandingCode } from "../portal/portal-sessions.ts";
import { ConfigError } from "../shared/config-error.ts";
import { parseTenantId, type TenantId } from "../shared/id.ts";
import type { Background } from "../shared/every.ts";
import { makeSecretBox, type SecretBox } from "../shared/secret-box.ts";
import { makeCall } from "./demo-api.ts";
import { makeDemoCertificates } from "./demo-certificates.ts";
import { ENV_FILE, writeEnvFile } from "./demo-env.ts";
import { startDemoReceiver } from "./demo-receiver.ts";
import { keptSecrets, SECRETS_FILE, type DemoSecrets } from "./demo-secrets.ts";
import { makeHistory } from "./history.ts";
import { makeTraffic } from "./traffic.ts";
import { liveSamples, welcomeText, type SampleEvent } from "./welcome.ts";
import { messageOf } from "../shared/message-of.ts";

const TOKEN_LIFE_MS = 12 * 3_600_000;
const RECEIVER_HOST = "127.0.0.1";
const RECEIVER_PORT = 8443;
const TENANT = "demo";
const OWNER: TokenClaims = { type: "user", tid: TENANT, sub: "you", role: "owner" };
const PRODUCER: TokenClaims = { type: "service", tid: TENANT, sub: "app", permissions: ["events:write"] };

export type Demo = {
  /** The environment with what the demonstration adds. */
  env: Environment;
  caPem: string;
  /** Signs in as the owner of the demonstration's tenant. */
  portalCode: StandingCode;
  /** From now on the receiver can look up which secrets its requests may be signed with. */
  connect(service: { databaseUrl: string; encryptionKeys: readonly Buffer[] }): void;
  /** Makes the history of a first start, and publishes an event every three seconds until the answer is stopped. */
  live(service: LiveService): Promise<Background>;
  /** Writes the tokens to a file, and says what to do with them. */
  welcome(service: { apiUrl: string; databaseUrl: string; sample: SampleEvent }): Promise<string>;
  stop(): Promise<void>;
};

export type LiveService = {
  apiUrl: string;
  databaseUrl: string;
  retryScheduleMs: readonly number[];
  catalog: Pick<Catalog, "types" | "faultsOf">;
  /** The event of the printed lines: what lives here takes none of its kind. */
  sample: SampleEvent;
};

export async function startDemo(env: Environment): Promise<Demo> {
  if (env["SESSION_JWKS_URL"] !== undefined) {
    throw new ConfigError(
      "--demo signs tokens of its own: unset SESSION_JWKS_URL, or run postern up without --demo",
    );
  }
  const secretsFile = join(dataDirOf(env), SECRETS_FILE);
  const secrets = { ...(await keptSecrets(secretsFile, makeSecrets)), ...givenSecrets(env) };
  const signing = signingOf(env, secrets);
  const certificates = await makeDemoCertificates(RECEIVER_HOST);
  const tenantId = demoTenant();
  const secretsInUse = lookUpSecrets(tenantId);
  const portalCode = makePortalCode(tenantId);
  const receiver = await startDemoReceiver({
    ...certificates,
    host: RECEIVER_HOST,
    preferredPort: RECEIVER_PORT,
    signingSecrets: () => secretsInUse.read(),
    print: (line) => console.log(line),
  });
  return {
    env: demoEnvironment(env, secrets),
    caPem: certificates.caPem,
    portalCode,
    connect: (service) => secretsInUse.connect(service),
    live: (service) => goLive(service, { signing, tenantId, receiverUrl: receiver.url }),
    async welcome({ databaseUrl, ...shown }) {
      const envFile = join(dataDirOf(env), ENV_FILE);
      await writeEnvFile(envFile, { ...(await makeTokens(signing)), DATABASE_URL: databaseUrl });
      return welcomeText({
        ...shown,
        portalCode: portalCode.code,
        receiver,
        secretsFile,
        envFile,
        dataDir: env["DATA_DIR"] ?? null,
        today: new Date().toISOString().slice(0, 10),
        tenant: TENANT,
      });
    },
    async stop() {
      await receiver.stop();
      await secretsInUse.end();
    },
  };
}

/** Which secrets a request to the receiver may be signed with, from the service's database once it is there. */
function lookUpSecrets(tenantId: TenantId) {
  const service = Promise.withResolvers<{ tenants: TenantPool; secretBox: SecretBox }>();
  let tenants: TenantPool | null = null;
  return {
    connect({ databaseUrl, encryptionKeys }: { databaseUrl: string; encryptionKeys: readonly Buffer[] }) {
      tenants = createTenantPool({
        url: databaseUrl,
        poolSize: 1,
        applicationName: "postern demo",
        connectionTimeoutMs: 3000,
      });
      service.resolve({ tenants, secretBox: makeSecretBox(encryptionKeys) });
    },
    async read(): Promise<string[]> {
      const { tenants, secretBox } = await service.promise;
      return readTenantSecrets(tenants.of(tenantId), secretBox, tenantId);
    },
    async end(): Promise<void> {
      await tenants?.end();
    },
  };
}

/** Makes the history of a first start, and starts the traffic. */
async function goLive(
  { apiUrl, databaseUrl, retryScheduleMs, catalog, sample }: LiveService,
  { signing, tenantId, receiverUrl }: { signing: SharedSecret; tenantId: TenantId; receiverUrl: string },
): Promise<Background> {
  const samples = liveSamples(catalog, sample);
  const call = makeCall(apiUrl, () => sign(signing, OWNER));
  try {
    await makeHistory({ databaseUrl, tenantId, receiverUrl, samples, retryScheduleMs, call });
  } catch (error) {
    // A newcomer can do without it.
    console.log(`demonstration: no history was made: ${messageOf(error)}`);
  }
  const publish = makeCall(apiUrl, () => sign(signing, PRODUCER));
  const traffic = makeTraffic(samples, publish, (line) => console.log(line));
  traffic.start();
  return traffic;
}

function demoEnvironment(env: Environment, secrets: DemoSecrets): Environment {
  const cidrs = [env["OUTBOUND_ALLOWED_CIDRS"], `${RECEIVER_HOST}/32`].filter(Boolean);
  return { LOG_LEVEL: "warn", ...env, ...secrets, OUTBOUND_ALLOWED_CIDRS: cidrs.join(",") };
}

async function makeTokens(signing: SharedSecret): Promise<{ USER_TOKEN: string; SERVICE_TOKEN: string }> {
  return { USER_TOKEN: await sign(signing, OWNER), SERVICE_TOKEN: await sign(signing, PRODUCER) };
}

function signingOf(env: Environment, { SESSION_JWT_SECRET: secret }: DemoSecrets): SharedSecret {
  return { secret, issuer: env["SESSION_ISSUER"], audience: env["SESSION_AUDIENCE"] };
}

function sign(signing: SharedSecret, claims: TokenClaims): Promise<string> {
  return issueToken(signing, claims, TOKEN_LIFE_MS);
}

function makePortalCode(tenantId: TenantId): StandingCode {
  return {
    code: randomBytes(32).toString("base64url"),
    grant: { tenantId, subject: "you", role: "owner", isReadOnly: false },
    minutes: MAX_SESSION_MINUTES,
  };
}

function demoTenant(): TenantId {
  const tenantId = parseTenantId(TENANT);
  if (tenantId === null) throw new Error("the demo tenant's name is no tenant id");
  return tenantId;
}

/** Secrets that the operator set win over those made up. */
function givenSecrets(env: Environment): {
  INTEGRATION_ENCRYPTION_KEY?: string;
  SESSION_JWT_SECRET?: string;
} {
  const { INTEGRATION_ENCRYPTION_KEY: key, SESSION_JWT_SECRET: secret } = env;
  return {
    ...(key === undefined ? {} : { INTEGRATION_ENCRYPTION_KEY: key }),
    ...(secret === undefined ? {} : { SESSION_JWT_SECRET: secret }),
  };
}
