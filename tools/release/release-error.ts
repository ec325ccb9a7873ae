/** What keeps a release from being made, in words for whoever makes it. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}
