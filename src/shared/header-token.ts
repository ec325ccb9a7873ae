/** A header carries nothing else unchanged: spaces at its ends are cut off, and other characters are refused or read as others. */
const TOKEN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Why a token can't travel in a header, in words that follow its setting's name; null where it can. */
export function headerTokenFault(token: string): string | null {
  return TOKEN.test(token) ? null : "must be printable ASCII, without spaces around it";
}
