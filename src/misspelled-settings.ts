/** A misspelled setting is no fault of a setting: it stays at its default, which nobody notices. */
import { nearName } from "./shared/near-name.ts";

/** Shorter names, such as PORT, are near to too many of other programs. */
const MIN_LETTERS = 6;

/**
 * A sentence for each variable that is most likely a setting, misspelled. None where that
 * setting is given too: then the other is somebody else's, such as DATABASE_URL_2.
 */
export function misspelledSettings(
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): string[] {
  const unset = settings.filter((name) => name.length >= MIN_LETTERS && env[name] === undefined);
  if (unset.length === 0) return [];
  return Object.keys(env).flatMap((typed) => {
    const meant = settings.includes(typed) ? null : nearName(typed, unset);
    return meant === null ? [] : [`${typed} is no setting: did you mean ${meant}?`];
  });
}
