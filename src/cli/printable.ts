/**
 * Escapes, as JSON may, what would steer a terminal or turn its text around: callers
 * and receivers choose much of what a command prints.
 *
 * @param kept characters that stay as they are.
 */
export function printable(text: string, kept = ""): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    kept.includes(character)
      ? character
      : character
          .split("")
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
          .join(""),
  );
}
