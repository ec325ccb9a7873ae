import { defineTexts } from "../../texts/texts.ts";

export const texts = defineTexts({
  en: {
    about:
      "Paste a request as your receiver got it, and the secret that it uses. Your browser checks them. Nothing of it is sent or stored.",
    takeNewest: "Take the newest request",
    noneSent: "Nothing was sent to this endpoint yet",
    headers: "Headers",
    headersAbout: "As lines, as JSON, or a command of curl, whose body goes below.",
    body: "Body",
    bodyAbout: "The raw body, character by character: no laying out, no parsing.",
    secret: "Secret",
    secretAbout: "Stays in this page.",
    result: "Result",
    empty: "Give the headers and the secret. Each step is shown here at once.",
    insecure: "Your browser checks signatures only on pages that came over HTTPS.",
    asSent: "Judged by the time at which it was sent.",
    verdicts: {
      right: "The signature is right. A receiver accepts this request.",
      late: "The signature is right, but its time is too far from now.",
      wrong: "A receiver refuses this request. See below why.",
    },
    steps: {
      headers: "1. Headers",
      time: "2. Time",
      secret: "3. Secret",
      form: "4. Form of the signatures",
      match: "5. Match",
    },
    tones: { good: "Right", bad: "Wrong", wait: "Careful", plain: "Note" },
  },
  de: {
    about:
      "Fügen Sie eine Anfrage ein, wie Ihr Empfänger sie bekam, und das Geheimnis, das er verwendet. Ihr Browser prüft sie. Nichts davon wird gesendet oder gespeichert.",
    takeNewest: "Neueste Anfrage nehmen",
    noneSent: "An diesen Endpunkt wurde noch nichts gesendet",
    headers: "Header",
    headersAbout: "Als Zeilen, als JSON oder als Befehl von curl, dessen Body dann unten steht.",
    body: "Body",
    bodyAbout: "Der rohe Body, Zeichen für Zeichen: nicht eingerückt, nicht geparst.",
    secret: "Geheimnis",
    secretAbout: "Bleibt in dieser Seite.",
    result: "Ergebnis",
    empty: "Geben Sie Header und Geheimnis an. Jeder Schritt erscheint hier sofort.",
    insecure: "Ihr Browser prüft Signaturen nur auf Seiten, die über HTTPS kamen.",
    asSent: "Beurteilt nach der Zeit, zu der sie gesendet wurde.",
    verdicts: {
      right: "Die Signatur stimmt. Ein Empfänger nimmt diese Anfrage an.",
      late: "Die Signatur stimmt, aber ihre Zeit liegt zu weit von jetzt entfernt.",
      wrong: "Ein Empfänger weist diese Anfrage zurück. Unten steht, warum.",
    },
    steps: {
      headers: "1. Header",
      time: "2. Zeit",
      secret: "3. Geheimnis",
      form: "4. Form der Signaturen",
      match: "5. Übereinstimmung",
    },
    tones: { good: "Richtig", bad: "Falsch", wait: "Achtung", plain: "Hinweis" },
  },
});
