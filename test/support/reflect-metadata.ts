/**
 * The three functions of the `reflect-metadata` proposal that @peculiar/x509
 * reads its own classes with while it loads.
 */
const metadata = new WeakMap<object, Map<unknown, unknown>>();

function getMetadata(key: unknown, target: object): unknown {
  return metadata.get(target)?.get(key);
}

function defineMetadata(key: unknown, value: unknown, target: object): void {
  const known = metadata.get(target) ?? new Map<unknown, unknown>();
  known.set(key, value);
  metadata.set(target, known);
}

/** Call before @peculiar/x509 is imported. Does nothing where a full implementation is already loaded. */
export function defineReflectMetadata(): void {
  if ("getMetadata" in Reflect) return;
  Object.assign(Reflect, { getMetadata, getOwnMetadata: getMetadata, defineMetadata });
}
