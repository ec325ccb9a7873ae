/**
 * Schemathesis, which reads `/openapi.json` and calls every operation with data
 * that keep to it and data that break it, must find nothing: no server error,
 * no answer that the document does not describe, no check of the session that
 * can be passed by. It runs in a Python environment that this file makes.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { promisify } from "node:util";
import { OPERATOR, openPortal } from "./support/portal.ts";
import { startDnsServer, type DnsServer } from "./support/dns-server.ts";
import { steered } from "./support/receivers.ts";
import { OWNER, PRODUCER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { first, webhooksOf } from "./support/webhooks.ts";

const ROOT = join(import.meta.dirname, "..");
const REQUIREMENTS = join(import.meta.dirname, "schemathesis", "requirements.txt");
const CONFIG = join(import.meta.dirname, "schemathesis", "schemathesis.toml");
/** Not `.venv`, which is the storage suite's. */
const VENV = join(ROOT, ".cache", "schemathesis");
const SITE = join(VENV, "site");

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const run = promisify(execFile);
const receiver = steered();
let dns: DnsServer;
let service: TestService;

before(async () => {
  // Example URLs name hosts of the world outside: here none of them resolves.
  dns = await startDnsServer(() => ({ kind: "nxdomain" }));
  service = await startTestService({
    respond: receiver.respond,
    roles: ["api"],
    // A test of a pull endpoint waits for as long, and no client comes.
    senderLimits: { attemptTimeoutMs: 1000 },
    env: {
      DNS_SERVERS: dns.address,
      MAX_ENDPOINTS_PER_TENANT: "100000",
      // Its calls are thousands, and 429 would hide what they look for.
      RATE_LIMIT_WRITES: "0",
      RATE_LIMIT_DISPATCHES: "0",
      RATE_LIMIT_FETCHES: "0",
      RATE_LIMIT_AUTH: "0",
    },
  });
});
after(async () => {
  await service.stop();
  await dns.close();
});

it("finds nothing", { timeout: 600_000 }, async () => {
  const python = await preparePython();
  const { endpointId, deliveryId } = await failedDelivery();
  const env = {
    ...process.env,
    PYTHONPATH: SITE,
    NO_COLOR: "1",
    POSTERN_USER_TOKEN: await service.token(OWNER),
    POSTERN_SERVICE_TOKEN: await service.token(PRODUCER),
    POSTERN_OPERATOR_TOKEN: await service.token(OPERATOR),
    POSTERN_PORTAL_TOKEN: (await openPortal(service)).token,
    POSTERN_ENDING_TOKEN: (await openPortal(service)).token,
    POSTERN_ENDPOINT_ID: endpointId,
    POSTERN_DELIVERY_ID: deliveryId,
  };
  const start = ["-c", "from schemathesis.cli import schemathesis; schemathesis(prog_name='schemathesis')"];
  const bounds = ["--seed", "20", "--max-examples", "40", "--generation-database", "none"];
  const args = [...start, "--config-file", CONFIG, "run", `${service.url}/openapi.json`, ...bounds];
  // Run where it may leave its own cache.
  const running = run(python, [...args, "--continue-on-failure"], {
    cwd: VENV,
    env,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  const { code, output } = await outcomeOf(running);
  assert.equal(code, 0, output);
  assert.match(output, /Tested: 54/);
});

/** A delivery that can be retried, for the operations that take one. */
async function failedDelivery(): Promise<{ endpointId: string; deliveryId: string }> {
  const webhooks = webhooksOf(service);
  const { endpoint } = await webhooks.create();
  receiver.answer = () => {
    service.receiver.dropConnections();
    return undefined;
  };
  await webhooks.test(endpoint.id, "invoice.paid");
  receiver.answer = () => ({});
  const failed = first(await webhooks.deliveries(endpoint.id, "?status=failed"));
  return { endpointId: endpoint.id, deliveryId: failed.id };
}

/** The Python to run, with the pinned packages; they are installed anew when the pins change. */
async function preparePython(): Promise<string> {
  const python = join(VENV, "bin", "python");
  const marker = join(VENV, "requirements.installed");
  const wanted = await readFile(REQUIREMENTS, "utf8");
  const installed = existsSync(marker) ? await readFile(marker, "utf8") : "";
  const usable = existsSync(python) ? python : "python3";
  if (installed === wanted) return usable;
  await rm(VENV, { recursive: true, force: true });
  const pipArguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
  try {
    await run("python3", ["-m", "venv", VENV]);
    await run(python, pipArguments);
  } catch {
    // Some systems ship Python without venv: a folder of packages does as well.
    await rm(VENV, { recursive: true, force: true });
    await run("python3", [...pipArguments, "--target", SITE]);
  }
  await writeFile(marker, wanted);
  return existsSync(python) ? python : "python3";
}

async function outcomeOf(
  running: Promise<{ stdout: string; stderr: string }>,
): Promise<{ code: unknown; output: string }> {
  try {
    const { stdout, stderr } = await running;
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = Object(error);
    return { code, output: `${String(stdout)}${String(stderr)}` };
  }
}
