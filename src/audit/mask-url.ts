const MAX_LENGTH = 2048;

/**
 * A URL as it may be kept for others to read: without anything in the place
 * of a name and password, without its query and fragment, which often hold
 * tokens, and without any signing secret. For any text, also one that is no URL.
 */
export function maskUrl(text: string): string {
  // Parsers skip them, so a password behind one still counts as a password.
  const plain = text.slice(0, MAX_LENGTH).replaceAll(/[\p{Cc}\s]/gu, "");
  const [, scheme = "", slashes = "", authority = "", path = "", more = ""] =
    /^([a-z][a-z0-9+.-]*:)?([/\\]*)([^/\\?#]*)([^?#]*)(.?)/isu.exec(plain) ?? [];
  // A password may have a slash in it, where for a parser the host ends: with what is then no port.
  const hasPort = /^(?:[^:]*|\[[^\]]*\])(?::[0-9]*)?$/.test(authority);
  const place = `${authority}${path}`;
  const at = (hasPort ? authority : place).lastIndexOf("@");
  const shown = at === -1 ? place : `…${place.slice(at)}`;
  const masked = `${scheme}${slashes}${shown}${more === "" ? "" : `${more}…`}`;
  return masked.replaceAll(/whsec_[A-Za-z0-9+/=_-]*/g, "whsec_…");
}
