import { defineTexts, plural } from "../texts/texts.ts";

export const texts = defineTexts({
  en: {
    search: "Search event types",
    all: "All events",
    allAbout: "Those that will be added later too.",
    prefix: (prefix: string) => `Everything of ${prefix}`,
    none: "No event type has this in its name or description.",
    chosen: (count: string, one: number) => `${count} ${plural(one, "pattern", "patterns")} chosen`,
    nothing: "Choose at least one.",
    deprecated: "deprecated",
    preview: "preview",
    staysVersion: "This version, also when there is a newer one",
    others: "Patterns outside the catalog",
    clear: "Clear",
    failed: "The event types could not be read.",
  },
  de: {
    search: "Ereignistypen suchen",
    all: "Alle Ereignisse",
    allAbout: "Auch solche, die später hinzukommen.",
    prefix: (prefix: string) => `Alles von ${prefix}`,
    none: "Kein Ereignistyp hat das im Namen oder in der Beschreibung.",
    chosen: (count: string, one: number) => `${count} ${plural(one, "Muster", "Muster")} gewählt`,
    nothing: "Wählen Sie mindestens eines.",
    deprecated: "veraltet",
    preview: "Vorschau",
    staysVersion: "Diese Version, auch wenn es eine neuere gibt",
    others: "Muster außerhalb des Katalogs",
    clear: "Leeren",
    failed: "Die Ereignistypen ließen sich nicht lesen.",
  },
});
