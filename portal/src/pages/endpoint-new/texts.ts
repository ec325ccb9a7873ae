import { defineTexts } from "../../texts/texts.ts";

export const texts = defineTexts({
  en: {
    title: "Add endpoint",
    back: "Endpoints",
    secretAbout:
      "Your receiver checks with it that a request comes from here and was not changed. Store it where your receiver can read it. If it is lost, rotate it.",
    readOnlyTitle: "You may not add endpoints",
    readOnly: "Your session may read only. Ask an owner of your account.",
  },
  de: {
    title: "Endpunkt hinzufügen",
    back: "Endpunkte",
    secretAbout:
      "Damit prüft Ihr Empfänger, dass eine Anfrage von hier kommt und nicht verändert wurde. Legen Sie es dort ab, wo Ihr Empfänger es lesen kann. Geht es verloren, ersetzen Sie es.",
    readOnlyTitle: "Sie dürfen keine Endpunkte hinzufügen",
    readOnly: "Ihre Sitzung darf nur lesen. Fragen Sie einen Inhaber Ihres Kontos.",
  },
});
