/** Texts of one page or part, in every language. Types make sure that no language lacks one. */
import { useDisplay, type Locale } from "../display/display.ts";

type Text = string | ((...values: never[]) => string) | { readonly [name: string]: Text };
/** Each text may be another one, of the same kind. */
type Same<Texts> = {
  readonly [Name in keyof Texts]: Texts[Name] extends string
    ? string
    : Texts[Name] extends (...values: never[]) => string
      ? Texts[Name]
      : Same<Texts[Name]>;
};
export type Catalogue<Texts> = Readonly<Record<Locale, Texts>>;

export function defineTexts<Texts extends Record<string, Text>>(texts: {
  en: Texts;
  de: Same<NoInfer<Texts>>;
}): Catalogue<Same<Texts>>;
export function defineTexts(texts: Catalogue<unknown>): Catalogue<unknown> {
  return texts;
}

/** The texts in the language of this person. */
export function useTexts<Texts>(catalogue: Catalogue<Texts>): Texts {
  return catalogue[useDisplay().locale];
}

/** The form that fits a count, in the languages of the catalogue, which have two. */
export function plural(count: number, one: string, other: string): string {
  return count === 1 ? one : other;
}
