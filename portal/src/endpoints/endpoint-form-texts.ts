import { defineTexts } from "../texts/texts.ts";

export const texts = defineTexts({
  en: {
    url: "URL",
    urlAbout: "Where events are sent, as POST requests. HTTPS, and reachable from the internet.",
    checking: "Checking …",
    urlGood: "This URL may be used.",
    urlNoName: "Allowed, but its name does not resolve yet. Attempts fail until it does.",
    urlRules: {
      not_https: "It must begin with https://",
      not_public: "It leads to a private or reserved address. Events go to public addresses only.",
      blocked_port: "This port may not be used.",
      other: "This URL may not be used.",
    },
    urlNone: "Enter the URL of your receiver.",
    urlBroken: "This is no complete URL yet. One looks like https://example.com/webhooks",
    description: "Description",
    descriptionAbout: "For people: what the receiver does, or who looks after it.",
    events: "Events",
    rate: "Rate limit",
    rateAbout:
      "Attempts per second for each worker of the service. Empty: as fast as your receiver takes them.",
    rateBroken: "A whole number from 1 on, or nothing.",
    headers: {
      label: "Extra headers",
      about:
        "Sent with each request. The value of Authorization, and of headers that you mark as secret, is stored encrypted and never shown again.",
      add: "Add header",
      remove: (name: string) => `Remove header ${name}`,
    },
    metadata: {
      label: "Metadata",
      about: "Notes for your own programs, such as a customer's number. They are stored and never sent.",
      add: "Add metadata",
      remove: (name: string) => `Remove metadata ${name}`,
    },
    name: "Name",
    value: "Value",
    secret: "Secret",
    mode: "How it gets its events",
    modes: { push: "Sent to the URL", pull: "Fetched by a client" },
    modeAbouts: {
      push: "Each event is sent to the URL as it happens.",
      pull: "Events wait until a program of yours fetches them from the API, for receivers behind a firewall. Nothing is sent to the URL.",
    },
    more: "More settings",
    create: "Create endpoint",
    save: "Save",
    cancel: "Cancel",
  },
  de: {
    url: "URL",
    urlAbout: "Dorthin werden Ereignisse als POST gesendet. HTTPS und aus dem Internet erreichbar.",
    checking: "Wird geprüft …",
    urlGood: "Diese URL ist erlaubt.",
    urlNoName: "Erlaubt, aber ihr Name lässt sich noch nicht auflösen. Bis dahin schlagen Versuche fehl.",
    urlRules: {
      not_https: "Sie muss mit https:// beginnen",
      not_public:
        "Sie führt zu einer privaten oder reservierten Adresse. Ereignisse gehen nur an öffentliche.",
      blocked_port: "Dieser Port ist nicht erlaubt.",
      other: "Diese URL ist nicht erlaubt.",
    },
    urlNone: "Geben Sie die URL Ihres Empfängers ein.",
    urlBroken: "Das ist noch keine vollständige URL. So sieht eine aus: https://example.com/webhooks",
    description: "Beschreibung",
    descriptionAbout: "Für Menschen: was der Empfänger tut oder wer sich um ihn kümmert.",
    events: "Ereignisse",
    rate: "Ratenlimit",
    rateAbout:
      "Versuche je Sekunde für jeden Worker des Dienstes. Leer: so schnell Ihr Empfänger sie annimmt.",
    rateBroken: "Eine ganze Zahl ab 1 oder nichts.",
    headers: {
      label: "Zusätzliche Header",
      about:
        "Gehen mit jeder Anfrage mit. Der Wert von Authorization und von Headern, die Sie als geheim kennzeichnen, wird verschlüsselt gespeichert und nie wieder gezeigt.",
      add: "Header hinzufügen",
      remove: (name: string) => `Header ${name} entfernen`,
    },
    metadata: {
      label: "Metadaten",
      about:
        "Notizen für Ihre eigenen Programme, etwa eine Kundennummer. Sie werden gespeichert und nie gesendet.",
      add: "Metadaten hinzufügen",
      remove: (name: string) => `Metadaten ${name} entfernen`,
    },
    name: "Name",
    value: "Wert",
    secret: "Geheim",
    mode: "Wie der Endpunkt seine Ereignisse bekommt",
    modes: { push: "An die URL gesendet", pull: "Von einem Client abgeholt" },
    modeAbouts: {
      push: "Jedes Ereignis wird an die URL gesendet, sobald es geschieht.",
      pull: "Ereignisse warten, bis ein Programm von Ihnen sie über die API abholt; für Empfänger hinter einer Firewall. An die URL wird nichts gesendet.",
    },
    more: "Weitere Einstellungen",
    create: "Endpunkt anlegen",
    save: "Speichern",
    cancel: "Abbrechen",
  },
});
