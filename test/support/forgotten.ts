/** For tests of what remembers: an object that stays for ever is a leak that nothing else shows. */
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What is closed lets go of its objects some turns of the event loop later. */
const TURNS = 20;

/** Whether nothing holds any more the empty object that `use` was given. */
export async function isForgotten(use: (object: Record<string, string>) => unknown): Promise<boolean> {
  const given = await offer(use);
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  for (let turn = 0; turn < TURNS; turn++) {
    // A reference that was made or read is kept to the end of its turn.
    await setTimeout(1);
    collect();
    if (given.deref() === undefined) return true;
  }
  return false;
}

/** A function of its own: no variable of the caller holds the object. */
async function offer(use: (object: Record<string, string>) => unknown): Promise<WeakRef<object>> {
  const object = {};
  await use(object);
  return new WeakRef(object);
}
