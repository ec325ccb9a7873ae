/**
 * Encrypts small secrets for storage: AES-256-GCM with a random 96-bit nonce.
 *
 * Stored form: version (1 byte) · key id (4) · nonce (12) · ciphertext · tag (16).
 * The key id is the start of the key's own SHA-256, so a box says which key of
 * the ring opens it. The additional data bind a box to its purpose and owner:
 * moved to another row it does not open.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from "node:crypto";

export const SEALED_VERSION = 1;
/** The same form under a key that the operator gave up as lost: nothing waits for that key, but it opens should the key be found. */
export const FORGOTTEN_VERSION = 255;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES;
/** What is shorter is no box. */
export const MIN_SEALED_BYTES = HEADER_BYTES + TAG_BYTES;

/** What a box belongs to, for example `["signing-secret", tenantId, endpointId]`. */
export type SecretOwner = readonly [purpose: string, ...ids: string[]];

/** Of no known form; encrypted with a key that the ring lacks; or altered, which moving to another row looks like. */
export type UnopenedReason = "form" | "key" | "altered";

export class SecretBoxError extends Error {
  override readonly name = "SecretBoxError";
}

export type SecretBox = {
  /** The ids of the ring's keys, in its order: the first seals. */
  keyIds: readonly [string, ...string[]];
  /** Whether the ring has the key with this id (eight hex digits). */
  holds(keyId: string): boolean;
  /** Whether its key was given up as lost, and has not been found since. */
  isLost(box: Buffer): boolean;
  seal(plaintext: string, owner: SecretOwner): Buffer;
  /** Throws {@link SecretBoxError}, which names the owner and the reason and never the content. */
  open(box: Buffer, owner: SecretOwner): string;
};

/** `keys`: 32 bytes each; the first seals, all open. `onUnopened` is told of each box that does not open. */
export function makeSecretBox(
  keys: readonly Buffer[],
  onUnopened: (reason: UnopenedReason) => void = () => undefined,
): SecretBox {
  const ring = new Map<string, KeyObject>();
  for (const key of keys) ring.set(keyIdOf(key).toString("hex"), createSecretKey(key));
  const [first] = keys;
  if (first === undefined) throw new Error("a secret box needs at least one key");
  const sealingId = keyIdOf(first);
  const sealingKey = createSecretKey(first);

  function unopened(owner: SecretOwner, reason: UnopenedReason, text: string): SecretBoxError {
    onUnopened(reason);
    return new SecretBoxError(`${owner.join("/")}: ${text}`);
  }

  return {
    keyIds: [sealingId.toString("hex"), ...[...ring.keys()].slice(1)],
    holds: (keyId) => ring.has(keyId),
    isLost: (box) => box[0] === FORGOTTEN_VERSION && !ring.has(sealerOf(box)),
    seal(plaintext, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", sealingKey, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(additionalData(owner));
      const sealed = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(SEALED_VERSION), sealingId, nonce, sealed, cipher.getAuthTag()]);
    },
    open(box, owner) {
      const isForgotten = box[0] === FORGOTTEN_VERSION;
      if (box.length < MIN_SEALED_BYTES || (box[0] !== SEALED_VERSION && !isForgotten)) {
        throw unopened(owner, "form", "not an encrypted secret of a known form");
      }
      const keyId = sealerOf(box);
      const key = ring.get(keyId);
      if (key === undefined) {
        const remedy = isForgotten
          ? "was given up as lost: rotate the secret, and give masked headers again"
          : "INTEGRATION_ENCRYPTION_KEY does not hold: add it behind a comma";
        throw unopened(owner, "key", `encrypted with key ${keyId}, which ${remedy}`);
      }
      const nonce = box.subarray(1 + KEY_ID_BYTES, HEADER_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(additionalData(owner));
      decipher.setAuthTag(box.subarray(-TAG_BYTES));
      try {
        const opened = decipher.update(box.subarray(HEADER_BYTES, -TAG_BYTES));
        return Buffer.concat([opened, decipher.final()]).toString("utf8");
      } catch {
        throw unopened(owner, "altered", "the stored secret was altered or belongs to another row");
      }
    },
  };
}

function sealerOf(box: Buffer): string {
  return box.subarray(1, 1 + KEY_ID_BYTES).toString("hex");
}

function keyIdOf(key: Buffer): Buffer {
  return createHash("sha256").update(key).digest().subarray(0, KEY_ID_BYTES);
}

// The lengths make the joined form unambiguous whatever an id contains.
function additionalData(owner: SecretOwner): Buffer {
  return Buffer.from(owner.map((part) => `${Buffer.byteLength(part)}:${part}`).join(","), "utf8");
}
