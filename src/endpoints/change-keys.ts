/**
 * The change of the encryption key: every stored signing secret, and all masked headers, sealed anew
 * under the ring's first key, while the service runs. Each batch is one
 * statement that commits by itself and changes only what is still as it was
 * read, so a rotation of a secret at the same moment wins, and a run that ends
 * anywhere has lost nothing: the next one continues with the rest.
 */
import { setTimeout as delay } from "node:timers/promises";
import { NO_REQUEST, OPERATOR, type NewAuditEntry } from "../audit/audit-entry.ts";
import { recordDone } from "../audit/audit.ts";
import type { Db } from "../database/pool.ts";
import { SecretBoxError, type SecretBox } from "../shared/secret-box.ts";
import {
  clearEndedGraces,
  countSecretsByKey,
  listSealedOtherwise,
  replaceSealed,
  type SealedSecrets,
} from "./reseal-store.ts";
import { openSigningSecret, sealSigningSecret } from "./signing-secret.ts";
import { resealHeaders } from "./static-headers.ts";

const BATCH = 500;
/** What was locked or changed meanwhile is looked at again, so often and with a moment between. */
const ROUNDS = 20;
const ROUND_PAUSE_MS = 250;

export type KeyUse = {
  keyId: string;
  /** `first` seals, `former` only opens, `missing` is not in the ring. */
  place: "first" | "former" | "missing";
  secrets: number;
};

export type KeyChange = {
  endpoints: number;
  /** One line each, naming the endpoint and why its secret does not open. */
  failures: string[];
  keys: KeyUse[];
};

/** The ring's keys in its order, then missing keys, each with the number of live secrets under it. */
export async function readKeyUse(db: Db, box: SecretBox): Promise<KeyUse[]> {
  const counts = new Map((await countSecretsByKey(db)).map(({ keyId, count }) => [keyId, count]));
  const [first, ...former] = box.keyIds;
  const missing = [...counts.keys()].filter((keyId) => !box.holds(keyId));
  const use = (place: KeyUse["place"]) => (keyId: string) => ({
    keyId,
    place,
    secrets: counts.get(keyId) ?? 0,
  });
  return [use("first")(first), ...former.map(use("former")), ...missing.map(use("missing"))];
}

/** Seals anew what is under another key than the first. `db` with the owner's rights. */
export async function changeKeys(
  db: Db,
  box: SecretBox,
  onProgress: (endpoints: number) => void,
): Promise<KeyChange> {
  await clearEndedGraces(db);
  const before = await readKeyUse(db, box);
  // Told first: a run that is killed after its last batch has no other entry.
  if (before.some(({ place, secrets }) => place !== "first" && secrets > 0)) {
    await recordByOperator(db, "keys.rotation_started", { secrets_by_key: byKey(before) });
  }
  const failures = new Map<string, string>();
  let endpoints = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { changed, left } = await changeOnce(db, box, failures, (more) => onProgress(endpoints + more));
    endpoints += changed;
    if (left === 0) break;
    await delay(ROUND_PAUSE_MS);
  }
  const keys = await readKeyUse(db, box);
  if (endpoints > 0 || failures.size > 0) {
    const details = { endpoints, failures: failures.size, secrets_by_key: byKey(keys) };
    await recordByOperator(db, "keys.rotated", details);
  }
  return { endpoints, failures: [...failures.values()], keys };
}

/** One walk through all of them; `left` were locked or had changed. */
async function changeOnce(
  db: Db,
  box: SecretBox,
  failures: Map<string, string>,
  onProgress: (changed: number) => void,
): Promise<{ changed: number; left: number }> {
  let after: SealedSecrets | null = null;
  let changed = 0;
  let left = 0;
  for (;;) {
    const batch: SealedSecrets[] = await listSealedOtherwise(db, box.keyIds[0], { after, limit: BATCH });
    const last = batch.at(-1);
    if (last === undefined) return { changed, left };
    const resealed = batch.flatMap((old) => reseal(box, old, failures) ?? []);
    const replaced = await replaceSealed(db, resealed);
    changed += replaced;
    left += resealed.length - replaced;
    onProgress(changed);
    after = last;
  }
}

function reseal(box: SecretBox, old: SealedSecrets, failures: Map<string, string>) {
  const again = (sealed: Buffer) => sealSigningSecret(box, openSigningSecret(box, sealed, old), old);
  try {
    const previousSecret = old.previousSecret === null ? null : again(old.previousSecret);
    const sealedHeaders = old.sealedHeaders === null ? null : resealHeaders(box, old.sealedHeaders, old);
    const resealed = { old, secret: again(old.secret), previousSecret, sealedHeaders };
    failures.delete(old.endpointId);
    return resealed;
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    failures.set(old.endpointId, error.message);
    return null;
  }
}

function byKey(keys: readonly KeyUse[]): Record<string, number> {
  return Object.fromEntries(keys.map(({ keyId, secrets }) => [keyId, secrets]));
}

async function recordByOperator(
  db: Db,
  action: NewAuditEntry["action"],
  details: NewAuditEntry["details"],
): Promise<void> {
  const by = { tenantId: null, actor: OPERATOR, ...NO_REQUEST };
  await recordDone(db, by, { action, endpointId: null, details });
}
