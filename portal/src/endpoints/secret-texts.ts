import { defineTexts } from "../texts/texts.ts";

export const texts = defineTexts({
  en: {
    title: "The signing secret, shown only this once",
    secret: "Signing secret",
    stored: "I have stored it",
    once: "You can't see it again. Only a new one can take its place.",
  },
  de: {
    title: "Das Signaturgeheimnis wird nur dieses eine Mal gezeigt",
    secret: "Signaturgeheimnis",
    stored: "Ich habe es gespeichert",
    once: "Sie können es nicht noch einmal sehen. Nur ein neues kann es ersetzen.",
  },
});
