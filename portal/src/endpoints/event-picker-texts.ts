import { defineTexts, plural } from "../texts/texts.ts";

export const texts = defineTexts({
  en: {
    search: "Search event types",
    all: "All events",
    allAbout: "Those that will be added later too.",
    prefix: (prefix: string) => `Everything of ${prefix}`,
    prefixAbout: "Later ones too",
    none: "No event type has this in its name or description.",
    chosen: (count: string, one: number) => `${count} ${plural(one, "pattern", "patterns")} chosen`,
    nothing: "Nothing chosen: the endpoint receives only tests.",
    deprecated: "deprecated",
    others: "Patterns outside the catalog",
    clear: "Clear",
    failed: "The event types could not be read.",
  },
  de: {
    search: "Ereignistypen suchen",
    all: "Alle Ereignisse",
    allAbout: "Auch solche, die später hinzukommen.",
    prefix: (prefix: string) => `Alles von ${prefix}`,
    prefixAbout: "Auch spätere",
    none: "Kein Ereignistyp hat das im Namen oder in der Beschreibung.",
    chosen: (count: string, one: number) => `${count} ${plural(one, "Muster", "Muster")} gewählt`,
    nothing: "Nichts gewählt: Der Endpunkt erhält nur Tests.",
    deprecated: "veraltet",
    others: "Muster außerhalb des Katalogs",
    clear: "Leeren",
    failed: "Die Ereignistypen ließen sich nicht lesen.",
  },
});
