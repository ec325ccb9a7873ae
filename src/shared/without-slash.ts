/** An address or path without the slash at its end, behind which paths would have two. */
export function withoutSlash(text: string): string {
  return text.replace(/\/$/, "");
}
