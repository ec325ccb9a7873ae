import { defineTexts } from "../../texts/texts.ts";

export const texts = defineTexts({
  en: { title: "Endpoint", back: "Endpoints", edit: "Edit", events: "Events", created: "Created", id: "Id" },
  de: {
    title: "Endpunkt",
    back: "Endpunkte",
    edit: "Bearbeiten",
    events: "Ereignisse",
    created: "Angelegt",
    id: "Id",
  },
});
