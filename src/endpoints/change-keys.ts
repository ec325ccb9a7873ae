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
import type { EndpointKey } from "../shared/id.ts";
import { SecretBoxError, type SecretBox } from "../shared/secret-box.ts";
import {
  clearEndedGraces,
  countSecretsByKey,
  forgetSealedBy,
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
  /** `first` seals, `former` only opens, `missing` is not in the ring, `forgotten` neither, and given up as lost. */
  place: "first" | "former" | "missing" | "forgotten";
  secrets: number;
};

export type KeyChange = {
  endpoints: number;
  /** One line each, naming the endpoint and why its secret does not open. */
  failures: string[];
  keys: KeyUse[];
};

/** The ring's keys in its order, then missing and forgotten keys, each with the number of live secrets under it. */
export async function readKeyUse(db: Db, box: SecretBox): Promise<KeyUse[]> {
  const counts = await countSecretsByKey(db);
  const [first, ...former] = box.keyIds;
  const held = (place: KeyUse["place"]) => (keyId: string) => {
    // What was forgotten opens with its key.
    const under = counts.filter((one) => one.keyId === keyId).map(({ count }) => count);
    return { keyId, place, secrets: under.reduce((sum, count) => sum + count, 0) };
  };
  const others = counts
    .filter(({ keyId }) => !box.holds(keyId))
    .map(({ keyId, isForgotten, count }): KeyUse => {
      return { keyId, place: isForgotten ? "forgotten" : "missing", secrets: count };
    });
  return [held("first")(first), ...former.map(held("former")), ...others];
}

/** Whether something is under it that another key, the first, should have sealed. */
export function isStillNeeded({ place, secrets }: KeyUse): boolean {
  return place !== "first" && place !== "forgotten" && secrets > 0;
}

/** Gives up what a lost key has sealed. `onCutOff` is told of each endpoint that gets no requests now; answers how many secrets are left. `db` with the owner's rights. */
export async function forgetKey(
  db: Db,
  keyId: string,
  onCutOff: (endpoint: EndpointKey) => void,
): Promise<number> {
  const secretsLeft = async () =>
    (await countSecretsByKey(db)).find((one) => one.keyId === keyId && !one.isForgotten)?.count ?? 0;
  let left = await secretsLeft();
  // Told first: a run that is killed in the middle has no other entry.
  if (left > 0) await recordByOperator(db, "keys.forgotten", { key: keyId, secrets: left });
  for (let round = 0; left > 0 && round < ROUNDS; round++) {
    if (round > 0) await delay(ROUND_PAUSE_MS);
    for (let batch = await forgetSealedBy(db, keyId, BATCH); batch.length > 0;) {
      for (const { isCutOff, ...endpoint } of batch) if (isCutOff) onCutOff(endpoint);
      batch = await forgetSealedBy(db, keyId, BATCH);
    }
    left = await secretsLeft();
  }
  return left;
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
  if (before.some(isStillNeeded)) {
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
  // What is lost stays: the rest no longer needs the former keys then.
  const anew = (sealed: Buffer, seal: (sealed: Buffer) => Buffer) =>
    box.isLost(sealed) ? sealed : seal(sealed);
  const secretAnew = (sealed: Buffer) =>
    anew(sealed, () => sealSigningSecret(box, openSigningSecret(box, sealed, old), old));
  try {
    const previousSecret = old.previousSecret === null ? null : secretAnew(old.previousSecret);
    const sealedHeaders =
      old.sealedHeaders === null
        ? null
        : anew(old.sealedHeaders, (sealed) => resealHeaders(box, sealed, old));
    const secret = secretAnew(old.secret);
    failures.delete(old.endpointId);
    const isSame =
      secret === old.secret && previousSecret === old.previousSecret && sealedHeaders === old.sealedHeaders;
    return isSame ? null : { old, secret, previousSecret, sealedHeaders };
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
