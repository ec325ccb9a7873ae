import { defineCommand } from "citty";
import type { Db } from "../database/pool.ts";
import {
  changeKeys,
  forgetKey,
  isStillNeeded,
  readKeyUse,
  type KeyChange,
  type KeyUse,
} from "../endpoints/change-keys.ts";
import { readMark } from "../shards/join-store.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import { withClearErrors } from "./command.ts";
import { asOwner } from "./owner.ts";
import { makeProgress } from "./progress.ts";

const json = { type: "boolean", description: "As JSON" } as const;

const rotate = defineCommand({
  meta: {
    name: "rotate",
    description: "Encrypt every stored secret with the first key of INTEGRATION_ENCRYPTION_KEY",
  },
  args: { json },
  run: ({ args }) =>
    withClearErrors(() =>
      asOwner("keys rotate", async (db, config) => {
        const progress = makeProgress(false);
        const change = await changeKeys(db, makeSecretBox(config.encryptionKeys), (endpoints) =>
          progress.show(`${endpoints} endpoints done`),
        ).finally(() => progress.end());
        if (args.json === true) console.log(JSON.stringify(change, null, 2));
        else printChange(change, await isShard(db));
        if (change.failures.length > 0 || change.keys.some(isStillNeeded)) process.exitCode = 1;
      }),
    ),
});

const status = defineCommand({
  meta: { name: "status", description: "Show how many stored secrets are encrypted with which key" },
  args: { json },
  run: ({ args }) =>
    withClearErrors(() =>
      asOwner("keys status", async (db, config) => {
        const keys = await readKeyUse(db, makeSecretBox(config.encryptionKeys));
        if (args.json === true) console.log(JSON.stringify(keys, null, 2));
        else printKeys(keys, await isShard(db));
        if (keys.some(({ place }) => place === "missing")) process.exitCode = 1;
      }),
    ),
});

const forget = defineCommand({
  meta: {
    name: "forget",
    description: "Give up a key that is lost, so that Postern starts without it",
  },
  args: {
    key: { type: "positional", required: true, description: "The key's id, as `keys status` shows it" },
  },
  run: ({ args: { key } }) =>
    withClearErrors(() =>
      asOwner("keys forget", async (db, config) => {
        const box = makeSecretBox(config.encryptionKeys);
        if (box.holds(key))
          throw new ConfigError(`INTEGRATION_ENCRYPTION_KEY has the key ${key}: it is not lost`);
        const use = await readKeyUse(db, box);
        if (!use.some(({ keyId, place }) => keyId === key && place === "missing"))
          throw new ConfigError(
            `no secret waits for a key ${key}: \`postern keys status\` shows those there are`,
          );
        let endpoints = 0;
        const left = await forgetKey(db, key, ({ tenantId, endpointId }) => {
          endpoints++;
          console.log(`${tenantId}  ${endpointId}`);
        });
        console.log(`${endpoints} endpoints get no requests until ${NEXT}`);
        if (left === 0) return;
        console.log(`${left} secrets were locked, or their tenants are being moved: run this again.`);
        process.exitCode = 1;
      }),
    ),
});

const NEXT =
  "their secret is rotated and their masked headers are given again, or the key is found and added behind a comma.";

export const keys = defineCommand({
  meta: { name: "keys", description: "The keys that encrypt stored secrets" },
  subCommands: { rotate, status, forget },
});

/** Then the other shards, which this command does not see, may need a key. */
async function isShard(db: Db): Promise<boolean> {
  return (await readMark(db)) !== null;
}

function printChange({ endpoints, failures, keys: uses }: KeyChange, isOfSeveral: boolean): void {
  for (const failure of failures) console.log(`failed  ${failure}`);
  console.log(`Encrypted the secrets of ${endpoints} endpoints with key ${uses[0]?.keyId ?? ""}.`);
  printKeys(uses, isOfSeveral);
  if (!uses.some(isStillNeeded)) return;
  console.log("Some secrets are still under other keys: fix the failures and run this again.");
}

function printKeys(uses: readonly KeyUse[], isOfSeveral: boolean): void {
  const width = Math.max(...uses.map(({ secrets }) => String(secrets).length));
  for (const use of uses) {
    console.log(
      `${use.keyId}  ${String(use.secrets).padStart(width)} secrets  ${meaningOf(use, isOfSeveral)}`,
    );
  }
}

function meaningOf({ place, secrets }: KeyUse, isOfSeveral: boolean): string {
  if (place === "first") return "first key: encrypts";
  if (place === "missing") return "not in INTEGRATION_ENCRYPTION_KEY: add it behind a comma";
  if (place === "forgotten") return "lost: wait for new secrets and headers, or for the key";
  if (secrets > 0) return "still needed to decrypt";
  const removed = "may be removed from INTEGRATION_ENCRYPTION_KEY";
  return isOfSeveral ? `not needed in this shard: ${removed} when no shard needs it` : removed;
}
