import { hash, timingSafeEqual } from "node:crypto";

/** Whether two texts are equal, in a time that depends on neither the equal part nor the secret's length. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", secret, "buffer"));
}
