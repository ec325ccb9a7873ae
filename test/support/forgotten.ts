/** For tests of what remembers: a key that stays for ever is a leak that nothing else shows. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Whether nothing holds any more the key that `use` was given. */
export async function isForgotten(use: (key: object) => void): Promise<boolean> {
  const key = offer(use);
  // A reference that was made or read is kept to the end of its turn.
  await setImmediate();
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return key.deref() === undefined;
}

/** A function of its own: no variable of the caller holds the key. */
function offer(use: (key: object) => void): WeakRef<object> {
  const key = {};
  use(key);
  return new WeakRef(key);
}
