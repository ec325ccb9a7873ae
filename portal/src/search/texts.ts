import { defineTexts } from "../texts/texts.ts";

export const texts = defineTexts({
  en: {
    title: "Search",
    label: "Search everything",
    hint: "Id, idempotency key, URL, description, event type or page",
    results: "Results",
    kinds: {
      page: "Pages",
      delivery: "Deliveries",
      event: "Events",
      endpoint: "Endpoints",
      event_type: "Event types",
    },
    none: (q: string) => `Nothing has “${q}”.`,
    noneAbout:
      "Ids and keys are found when they are whole; URLs, descriptions and event types by any part of them. For text in bodies search in Deliveries.",
    keys: "↑ ↓ choose · Enter opens · Esc closes",
  },
  de: {
    title: "Suche",
    label: "Alles durchsuchen",
    hint: "Id, Idempotenzschlüssel, URL, Beschreibung, Ereignistyp oder Seite",
    results: "Treffer",
    kinds: {
      page: "Seiten",
      delivery: "Zustellungen",
      event: "Ereignisse",
      endpoint: "Endpunkte",
      event_type: "Ereignistypen",
    },
    none: (q: string) => `Nichts enthält „${q}“.`,
    noneAbout:
      "Ids und Schlüssel werden ganz gefunden, URLs, Beschreibungen und Ereignistypen an jedem Teil. Text in Bodys suchen Sie unter Zustellungen.",
    keys: "↑ ↓ wählen · Enter öffnet · Esc schließt",
  },
});
