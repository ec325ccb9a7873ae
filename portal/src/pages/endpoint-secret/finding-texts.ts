/** A sentence or two for each finding of the signature's check: what is so, and what to do. */
import type { Code } from "../../signature/check.ts";
import type { Catalogue } from "../../texts/texts.ts";

type FindingTexts = Readonly<Record<Code, (value: string) => string>>;

export const findingTexts: Catalogue<FindingTexts> = {
  en: {
    noHeaders: () => "None of the signature's headers is here. Paste the headers of the request.",
    missing: (name) =>
      `${name} is missing. A proxy or a framework may drop headers that it does not know, or it was not copied.`,
    twice: (name) => `${name} is here twice, with different values.`,
    unread: (line) => `This line is no header and was left out: ${line}`,
    both: () => "All headers of both signatures are here. A receiver needs to check one of them.",
    standardAlone: () => "All headers of webhook-signature are here.",
    serviceAlone: () => "All headers of X-Service-Signature are here. They do not cover the request's id.",
    recent: (span) => `The request is ${span} away from the clock. 5 minutes are allowed.`,
    old: (span) =>
      `The request is ${span} old. A receiver refuses what is more than 5 minutes old. That is as it should be for an older request that you pasted; otherwise a clock is slow or the request waited.`,
    ahead: (span) =>
      `The request comes from ${span} in the future. The clock of your receiver, or of this computer, is slow.`,
    milliseconds: () => "The timestamp is in milliseconds. It must stay in seconds, as it was sent.",
    notSeconds: (value) => `The timestamp must be whole seconds since 1970, and is: ${value}`,
    timesDiffer: () => "webhook-timestamp and X-Service-Timestamp differ. They are equal when they are sent.",
    noTime: () => "There is no timestamp.",
    secretStandard: () => "The secret has the right form: whsec_ and base64.",
    secretOwn: () => "An own secret. Its text is the key of both signatures.",
    secretSpace: () =>
      "There is a space or a line's end before or behind the secret. Often it comes from a file.",
    secretQuoted: () => "The secret stands in quotes. They are no part of it.",
    secretPrefixLost: () => "The secret lacks whsec_ at its beginning.",
    secretUrlBase64: () => "The secret has - or _ in it. It must be base64 with + and /.",
    secretPadding: () => "The secret is cut, or lacks = at its end.",
    secretNotBase64: () => "What follows whsec_ is not base64. Some characters may be lost or changed.",
    secretLength: () => "What follows whsec_ is too short or too long. It must stand for 24 to 64 bytes.",
    secretText: () =>
      "A secret without whsec_ must have 16 to 128 printable ASCII characters. Is this the whole secret?",
    secretSignature: () => "This is a signature and no secret.",
    one: () => "The form is right.",
    several: (count) => `${count} signatures, since a secret is being rotated. One match is enough.`,
    otherVersions: (versions) => `Signatures of version ${versions} are passed over. Only v1 is used here.`,
    commaList: () =>
      "The signatures are joined by commas. A proxy may have done so. Spaces must separate them.",
    versionLost: () => "“v1,” is missing before the signature. Compare the whole entry, v1, included.",
    hexForBase64: () => "The signature is hex here. It must be base64.",
    base64ForHex: () => "The signature is base64 here. It must be hex.",
    notBase64: () => "The signature is not base64. It may have been cut or decoded on its way.",
    notHex: () => "The signature is not hex.",
    signatureLength: () => "The signature has the wrong length. It is 32 bytes long.",
    noSignature: () => "There is no signature in it.",
    prefixLost: () => "sha256= is missing before the signature.",
    matches: (place) => (place === "" ? "The signature matches." : `Signature ${place} of the list matches.`),
    trailingSpace: () =>
      "It matches without the space or the line's end around the body. Something added it. Verify the raw bytes.",
    newlineLost: () => "It matches with a line's end behind the body. Something took it away.",
    lineEnds: () => "It matches with the line ends of Windows. Something changed them.",
    bom: () => "It matches without the byte order mark before the body. Something added it.",
    spaces: () =>
      "It matches without the spaces between the parts of the JSON. The body was parsed and written again, or laid out. Verify the raw bytes, before any parser.",
    escapes: () =>
      "It matches once the JSON is written as it was sent. The body was parsed and written again with other escapes or numbers. Verify the raw bytes, before any parser.",
    order: () =>
      "It matches with the members in the order in which they were sent. The body was parsed and written again. Verify the raw bytes, before any parser.",
    quoted: () => "It matches without the quotes around the body. The body was encoded a second time.",
    markup: () =>
      "It matches once HTML's entities such as &quot; are characters again. The body was escaped for HTML.",
    secretMended: () => "It matches with the secret corrected as in step 3.",
    idChanged: () =>
      "It does not match, and X-Service-Signature does. So body, time and secret are right, and webhook-id or webhook-signature was changed.",
    headerChanged: () =>
      "It does not match, and webhook-signature does. So body, time and secret are right, and this header was changed.",
    formerSecret: () =>
      "It does not match, since it is made with the new secret alone and this is the former one. webhook-signature accepts both while a secret is rotated.",
    notEnvelope: () =>
      "The body has no event and data. Is it the whole body? The signature covers all of it, not data alone.",
    noMatch: () =>
      "It does not match. Either this is the secret of another endpoint or of before a rotation, or the body is not what was sent. Take the newest request from the log and try the secret on it: if it matches, the body was changed on its way.",
    notChecked: () => "No signature has all of its headers, so none was checked.",
  },
  de: {
    noHeaders: () => "Keiner der Header der Signatur ist da. Fügen Sie die Header der Anfrage ein.",
    missing: (name) =>
      `${name} fehlt. Ein Proxy oder ein Framework kann Header weglassen, die es nicht kennt, oder er wurde nicht kopiert.`,
    twice: (name) => `${name} ist zweimal da, mit verschiedenen Werten.`,
    unread: (line) => `Diese Zeile ist kein Header und wurde ausgelassen: ${line}`,
    both: () => "Alle Header beider Signaturen sind da. Ein Empfänger muss eine davon prüfen.",
    standardAlone: () => "Alle Header von webhook-signature sind da.",
    serviceAlone: () =>
      "Alle Header von X-Service-Signature sind da. Sie decken die Id der Anfrage nicht ab.",
    recent: (span) => `Die Anfrage ist ${span} von der Uhr entfernt. Erlaubt sind 5 Minuten.`,
    old: (span) =>
      `Die Anfrage ist ${span} alt. Ein Empfänger weist zurück, was älter als 5 Minuten ist. Für eine ältere Anfrage, die Sie eingefügt haben, ist das richtig so; sonst geht eine Uhr nach, oder die Anfrage hat gewartet.`,
    ahead: (span) =>
      `Die Anfrage kommt aus der Zukunft, um ${span}. Die Uhr Ihres Empfängers oder dieses Computers geht nach.`,
    milliseconds: () =>
      "Der Zeitstempel ist in Millisekunden. Er muss in Sekunden bleiben, wie er gesendet wurde.",
    notSeconds: (value) => `Der Zeitstempel muss aus ganzen Sekunden seit 1970 bestehen und ist: ${value}`,
    timesDiffer: () =>
      "webhook-timestamp und X-Service-Timestamp sind verschieden. Gesendet werden sie mit gleichem Wert.",
    noTime: () => "Es gibt keinen Zeitstempel.",
    secretStandard: () => "Das Geheimnis hat die richtige Form: whsec_ und Base64.",
    secretOwn: () => "Ein eigenes Geheimnis. Sein Text ist der Schlüssel beider Signaturen.",
    secretSpace: () =>
      "Vor oder hinter dem Geheimnis steht ein Leerzeichen oder ein Zeilenende. Oft kommt es aus einer Datei.",
    secretQuoted: () => "Das Geheimnis steht in Anführungszeichen. Sie gehören nicht dazu.",
    secretPrefixLost: () => "Dem Geheimnis fehlt whsec_ am Anfang.",
    secretUrlBase64: () => "Im Geheimnis stehen - oder _. Es muss Base64 mit + und / sein.",
    secretPadding: () => "Das Geheimnis ist abgeschnitten, oder = an seinem Ende fehlt.",
    secretNotBase64: () =>
      "Was auf whsec_ folgt, ist kein Base64. Vielleicht fehlen Zeichen oder wurden verändert.",
    secretLength: () => "Was auf whsec_ folgt, ist zu kurz oder zu lang. Es muss für 24 bis 64 Bytes stehen.",
    secretText: () =>
      "Ein Geheimnis ohne whsec_ muss aus 16 bis 128 druckbaren ASCII-Zeichen bestehen. Ist es vollständig?",
    secretSignature: () => "Das ist eine Signatur und kein Geheimnis.",
    one: () => "Die Form stimmt.",
    several: (count) =>
      `${count} Signaturen, weil ein Geheimnis gerade ersetzt wird. Eine Übereinstimmung genügt.`,
    otherVersions: (versions) =>
      `Signaturen der Version ${versions} werden übergangen. Hier wird nur v1 verwendet.`,
    commaList: () =>
      "Die Signaturen sind durch Kommas verbunden. Das kann ein Proxy getan haben. Leerzeichen müssen sie trennen.",
    versionLost: () => "Vor der Signatur fehlt „v1,“. Vergleichen Sie den ganzen Eintrag mit v1, am Anfang.",
    hexForBase64: () => "Die Signatur steht hier in Hex. Sie muss Base64 sein.",
    base64ForHex: () => "Die Signatur steht hier in Base64. Sie muss Hex sein.",
    notBase64: () =>
      "Die Signatur ist kein Base64. Vielleicht wurde sie unterwegs abgeschnitten oder dekodiert.",
    notHex: () => "Die Signatur ist kein Hex.",
    signatureLength: () => "Die Signatur hat die falsche Länge. Sie ist 32 Bytes lang.",
    noSignature: () => "Es steht keine Signatur darin.",
    prefixLost: () => "Vor der Signatur fehlt sha256=.",
    matches: (place) =>
      place === "" ? "Die Signatur stimmt überein." : `Signatur ${place} der Liste stimmt überein.`,
    trailingSpace: () =>
      "Sie stimmt ohne das Leerzeichen oder Zeilenende um den Body. Etwas hat es hinzugefügt. Prüfen Sie die rohen Bytes.",
    newlineLost: () => "Sie stimmt mit einem Zeilenende hinter dem Body. Etwas hat es entfernt.",
    lineEnds: () => "Sie stimmt mit den Zeilenenden von Windows. Etwas hat sie verändert.",
    bom: () => "Sie stimmt ohne die Byte-Reihenfolge-Marke vor dem Body. Etwas hat sie hinzugefügt.",
    spaces: () =>
      "Sie stimmt ohne die Leerzeichen zwischen den Teilen des JSON. Der Body wurde geparst und neu geschrieben oder eingerückt. Prüfen Sie die rohen Bytes, vor jedem Parser.",
    escapes: () =>
      "Sie stimmt, sobald das JSON so geschrieben ist, wie es gesendet wurde. Der Body wurde geparst und mit anderen Escapes oder Zahlen neu geschrieben. Prüfen Sie die rohen Bytes, vor jedem Parser.",
    order: () =>
      "Sie stimmt mit den Feldern in der Reihenfolge, in der sie gesendet wurden. Der Body wurde geparst und neu geschrieben. Prüfen Sie die rohen Bytes, vor jedem Parser.",
    quoted: () =>
      "Sie stimmt ohne die Anführungszeichen um den Body. Der Body wurde ein zweites Mal kodiert.",
    markup: () =>
      "Sie stimmt, sobald Entitäten von HTML wie &quot; wieder Zeichen sind. Der Body wurde für HTML maskiert.",
    secretMended: () => "Sie stimmt mit dem Geheimnis, wie Schritt 3 es berichtigt.",
    idChanged: () =>
      "Sie stimmt nicht, X-Service-Signature aber schon. Also stimmen Body, Zeit und Geheimnis, und webhook-id oder webhook-signature wurde verändert.",
    headerChanged: () =>
      "Sie stimmt nicht, webhook-signature aber schon. Also stimmen Body, Zeit und Geheimnis, und dieser Header wurde verändert.",
    formerSecret: () =>
      "Sie stimmt nicht, denn sie wird nur mit dem neuen Geheimnis gebildet, und dies ist das frühere. Bei webhook-signature gelten beide, während ein Geheimnis ersetzt wird.",
    notEnvelope: () =>
      "Der Body hat kein event und data. Ist er vollständig? Die Signatur deckt ihn ganz ab, nicht nur data.",
    noMatch: () =>
      "Sie stimmt nicht. Entweder ist dies das Geheimnis eines anderen Endpunkts oder von vor einer Ersetzung, oder der Body ist nicht der gesendete. Nehmen Sie die neueste Anfrage aus dem Protokoll und versuchen Sie das Geheimnis daran: Stimmt sie dort, so wurde der Body unterwegs verändert.",
    notChecked: () => "Keine Signatur hat alle ihre Header, darum wurde keine geprüft.",
  },
};
