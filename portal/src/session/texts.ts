import { defineTexts } from "../texts/texts.ts";

export const texts = defineTexts({
  en: {
    opening: "Opening your session …",
    absentTitle: "Open the portal from your application",
    absent:
      "This page shows your webhooks once the application that you came from opens it for you. Go back there and follow its link to the webhooks portal.",
    unopenedTitle: "This link was used already or is too old",
    unopened:
      "A link to the portal works once, within a minute. Go back to your application and open the portal from there again.",
    leftTitle: "You are signed out",
    left: "To come back, open the portal from your application again.",
    endedTitle: "Your session has ended",
    ended:
      "Go back to your application and open the portal from there again. In this tab, forms of endpoints and tests then still have what you typed.",
    unreachableTitle: "The service cannot be reached",
    unreachable: "Your link was not used. Check your connection and try again.",
    tryAgain: "Try again",
  },
  de: {
    opening: "Sitzung wird geöffnet …",
    absentTitle: "Öffnen Sie das Portal aus Ihrer Anwendung",
    absent:
      "Diese Seite zeigt Ihre Webhooks, sobald die Anwendung, aus der Sie kommen, sie für Sie öffnet. Kehren Sie dorthin zurück und folgen Sie dem Link zum Webhook-Portal.",
    unopenedTitle: "Dieser Link wurde schon benutzt oder ist zu alt",
    unopened:
      "Ein Link zum Portal gilt einmal und eine Minute lang. Kehren Sie zu Ihrer Anwendung zurück und öffnen Sie das Portal von dort noch einmal.",
    leftTitle: "Sie sind abgemeldet",
    left: "Um zurückzukommen, öffnen Sie das Portal noch einmal aus Ihrer Anwendung.",
    endedTitle: "Ihre Sitzung ist zu Ende",
    ended:
      "Kehren Sie zu Ihrer Anwendung zurück und öffnen Sie das Portal von dort noch einmal. In diesem Tab haben die Formulare von Endpunkten und Tests dann noch, was Sie getippt haben.",
    unreachableTitle: "Der Dienst ist nicht erreichbar",
    unreachable:
      "Ihr Link wurde nicht verbraucht. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
    tryAgain: "Noch einmal versuchen",
  },
});
