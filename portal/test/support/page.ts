/**
 * Modules of the page that draw nothing, run here. Of a browser they get where
 * the page lies and which languages its reader has.
 */

type Page = { baseUrl?: string; languages?: readonly string[] };

/** Types of the page's modules need those of a browser, which tests have not: each test names what it uses. */
export async function loadModule<Module>(
  path: string,
  { baseUrl = "http://127.0.0.1/portal/", languages = ["en-GB"] }: Page = {},
): Promise<Module> {
  const location = new URL(baseUrl);
  const documentElement = { dataset: {}, lang: "" };
  for (const [name, value] of Object.entries({
    document: { baseURI: location.href, documentElement },
    location,
    navigator: { languages },
  }))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  return import(new URL(`../../src/${path}`, import.meta.url).href);
}
