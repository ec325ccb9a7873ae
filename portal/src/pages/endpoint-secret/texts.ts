import { defineTexts } from "../../texts/texts.ts";

export const texts = defineTexts({
  en: {
    title: "Signing secret",
    back: "Endpoint",
    parts: "What to do with the secret",
    tabs: { rotate: "Rotate", verify: "Verify requests", debug: "Debug a signature" },
    about:
      "Each request to this endpoint is signed with its secret, so that your receiver can tell that it comes from here and was not changed. The secret is stored encrypted and is never shown again after it was made.",
    ownersOnly: "Only owners of your account may rotate the secret.",
    formerLeft: (left: string) => `The former secret signs for another ${left}`,
    formerAbout: (until: string) =>
      `Until ${until} each request carries the signatures of both secrets. Your receiver must have the new one by then.`,
    rotateTitle: "Rotate the secret",
    rotate: "Rotate secret",
    grace: "Grace period",
    graceAbout: "Meanwhile requests are signed with the former secret too, so that your receiver can change.",
    graces: { none: "None", hour: "1 hour", day: "24 hours", week: "7 days", own: "Another" },
    graceNone: "· if the secret has leaked",
    graceCount: "Length of the grace period",
    graceUnit: "Unit",
    units: { minutes: "minutes", hours: "hours", days: "days" },
    graceError: "Give a whole number. 7 days is the longest.",
    useOwn: "Use a secret of my own instead of a new random one",
    own: "Your secret",
    ownAbout:
      "whsec_ and the base64 of 24 to 64 bytes, or 16 to 128 printable ASCII characters. Useful when you come from another product and your receivers have a secret already.",
    ownMissing: "Give a secret.",
    askTitle: (name: string) => `Rotate the signing secret of ${name}?`,
    askNow:
      "The former secret ends at once. Your receiver refuses requests until it has the new one. They are tried again on their schedule.",
    askLater: (span: string, until: string) =>
      `The former secret signs beside the new one for ${span}, until ${until}. Your receiver must have the new one by then.`,
    askFormer: "The secret of before the last rotation, which still signs now, ends at once.",
    doneNow: "The former secret has ended. Store this one where your receiver can read it.",
    doneLater: (span: string) =>
      `Store it where your receiver can read it. The former secret signs beside it for ${span}.`,
    language: "Language",
    verifyAbout:
      "Reads the secret from the environment, checks the age and the signature in constant time, and accepts two secrets while one is rotated. It needs the raw bytes of the body.",
    part: "Verification alone",
    whole: "Whole receiver",
    extent: "How much of it",
    partAbout:
      "A part of a file, for your own program. The whole receiver shows where each piece goes, and all imports.",
    run: "Run it",
    code: "Code",
    forEndpoint: (url: string) => `Verifies requests to ${url}`,
  },
  de: {
    title: "Signaturgeheimnis",
    back: "Endpunkt",
    parts: "Was mit dem Geheimnis geschehen soll",
    tabs: { rotate: "Ersetzen", verify: "Anfragen prüfen", debug: "Signatur untersuchen" },
    about:
      "Jede Anfrage an diesen Endpunkt ist mit seinem Geheimnis signiert. Daran erkennt Ihr Empfänger, dass sie von hier kommt und nicht verändert wurde. Das Geheimnis liegt verschlüsselt und wird nach seiner Erzeugung nie wieder gezeigt.",
    ownersOnly: "Nur Inhaber Ihres Kontos dürfen das Geheimnis ersetzen.",
    formerLeft: (left: string) => `Das frühere Geheimnis signiert noch ${left}`,
    formerAbout: (until: string) =>
      `Bis ${until} trägt jede Anfrage die Signaturen beider Geheimnisse. Bis dahin muss Ihr Empfänger das neue haben.`,
    rotateTitle: "Geheimnis ersetzen",
    rotate: "Geheimnis ersetzen",
    grace: "Übergangszeit",
    graceAbout:
      "In dieser Zeit werden Anfragen auch mit dem früheren Geheimnis signiert, damit Ihr Empfänger wechseln kann.",
    graces: { none: "Keine", hour: "1 Stunde", day: "24 Stunden", week: "7 Tage", own: "Andere" },
    graceNone: "· wenn das Geheimnis bekannt wurde",
    graceCount: "Länge der Übergangszeit",
    graceUnit: "Einheit",
    units: { minutes: "Minuten", hours: "Stunden", days: "Tage" },
    graceError: "Geben Sie eine ganze Zahl an. Höchstens 7 Tage.",
    useOwn: "Ein eigenes Geheimnis statt eines neuen zufälligen verwenden",
    own: "Ihr Geheimnis",
    ownAbout:
      "whsec_ und das Base64 von 24 bis 64 Bytes, oder 16 bis 128 druckbare ASCII-Zeichen. Nützlich, wenn Sie von einem anderen Produkt kommen und Ihre Empfänger schon ein Geheimnis haben.",
    ownMissing: "Geben Sie ein Geheimnis an.",
    askTitle: (name: string) => `Das Signaturgeheimnis von ${name} ersetzen?`,
    askNow:
      "Das frühere Geheimnis endet sofort. Ihr Empfänger weist Anfragen zurück, bis er das neue hat. Sie werden nach Plan wiederholt.",
    askLater: (span: string, until: string) =>
      `Das frühere Geheimnis signiert noch ${span} neben dem neuen, bis ${until}. Bis dahin muss Ihr Empfänger das neue haben.`,
    askFormer: "Das Geheimnis von vor der letzten Ersetzung, das jetzt noch signiert, endet sofort.",
    doneNow:
      "Das frühere Geheimnis gilt nicht mehr. Legen Sie dieses dort ab, wo Ihr Empfänger es lesen kann.",
    doneLater: (span: string) =>
      `Legen Sie es dort ab, wo Ihr Empfänger es lesen kann. Das frühere Geheimnis signiert noch ${span} daneben.`,
    language: "Sprache",
    verifyAbout:
      "Liest das Geheimnis aus der Umgebung, prüft Alter und Signatur in konstanter Zeit und nimmt zwei Geheimnisse an, während eines ersetzt wird. Nötig sind die rohen Bytes des Bodys.",
    part: "Nur die Prüfung",
    whole: "Ganzer Empfänger",
    extent: "Wie viel davon",
    partAbout:
      "Ein Teil einer Datei, für Ihr eigenes Programm. Der ganze Empfänger zeigt, wohin jedes Stück gehört, und alle Importe.",
    run: "Starten",
    code: "Code",
    forEndpoint: (url: string) => `Prüft Anfragen an ${url}`,
  },
});
