import { hash, timingSafeEqual } from "node:crypto";

/** Whether two texts are equal, in a time that tells neither how much of them is, nor how long the secret one is. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", secret, "buffer"));
}
