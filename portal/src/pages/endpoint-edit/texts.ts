import { defineTexts } from "../../texts/texts.ts";

export const texts = defineTexts({
  en: {
    title: "Edit endpoint",
    back: "Endpoint",
    saved: "The endpoint is saved",
    readOnlyTitle: "You may not change endpoints",
    readOnly: "Your session may read only. Ask an owner of your account.",
  },
  de: {
    title: "Endpunkt bearbeiten",
    back: "Endpunkt",
    saved: "Der Endpunkt ist gespeichert",
    readOnlyTitle: "Sie dürfen keine Endpunkte ändern",
    readOnly: "Ihre Sitzung darf nur lesen. Fragen Sie einen Inhaber Ihres Kontos.",
  },
});
