/** Texts in which white space counts. Elsewhere it is cut off, or refused. */
const TEXTS = ["DATA_DIR", "SESSION_JWT_SECRET", "SESSION_ISSUER", "SESSION_AUDIENCE"];

/** A sentence for each text that white space surrounds, such as the line end of the file that a secret was made from: nobody sees it. */
export function paddedSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  return TEXTS.filter((name) => env[name] !== undefined && env[name] !== env[name].trim()).map(
    (name) => `${name} begins or ends with white space, which is a part of it`,
  );
}
