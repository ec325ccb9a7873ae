import { defineTexts } from "../../texts/texts.ts";

export const texts = defineTexts({
  en: { title: "Edit endpoint", back: "Endpoint", saved: "The endpoint is saved" },
  de: { title: "Endpunkt bearbeiten", back: "Endpunkt", saved: "Der Endpunkt ist gespeichert" },
});
