import { defineTexts } from "../texts/texts.ts";

export const texts = defineTexts({
  en: {
    close: "Close",
    cancel: "Cancel",
    copy: "Copy",
    copied: "Copied",
    notCopied: "Your browser did not allow copying. Select the text and copy it by hand.",
    tryAgain: "Try again",
    loading: "Loading …",
    networkTitle: "No connection to the service",
    network: "It is asked again by itself. What you see may be out of date.",
    faultTitle: "Something went wrong in the service",
    fault: "It is not your doing. Try again; if it stays so, tell the people who run the service.",
    absentTitle: "Not found",
    absent: "It was deleted, is older than the log is kept, or never existed.",
    forbiddenTitle: "You may not see this",
    forbidden: "Your session lacks the permission. Ask an owner of your account.",
    limitedTitle: "Too many requests",
    limited: (seconds: number | null) =>
      seconds === null ? "Wait a moment and try again." : `Wait ${seconds} s and try again.`,
    refusedTitle: "The service refused this",
    readOnly: "Your session may read only",
    delivered: "Delivered",
    failed: "Failed",
    pending: "Pending",
    test: "Test",
    from: "From",
    to: "To",
    noTime: "Give a time.",
    wrongOrder: "It must be after the first.",
    sparkline: (delivered: string, failed: string) =>
      `Last 24 hours: ${delivered} delivered, ${failed} failed`,
  },
  de: {
    close: "Schließen",
    cancel: "Abbrechen",
    copy: "Kopieren",
    copied: "Kopiert",
    notCopied:
      "Ihr Browser hat das Kopieren nicht erlaubt. Markieren Sie den Text und kopieren Sie ihn von Hand.",
    tryAgain: "Noch einmal versuchen",
    loading: "Wird geladen …",
    networkTitle: "Keine Verbindung zum Dienst",
    network: "Die Anfrage wird von selbst wiederholt. Was Sie sehen, kann veraltet sein.",
    faultTitle: "Im Dienst ist etwas schiefgegangen",
    fault:
      "Es liegt nicht an Ihnen. Versuchen Sie es noch einmal; bleibt es so, melden Sie es den Betreibern.",
    absentTitle: "Nicht gefunden",
    absent: "Es wurde gelöscht, ist älter als das Protokoll oder war nie da.",
    forbiddenTitle: "Das dürfen Sie nicht sehen",
    forbidden: "Ihrer Sitzung fehlt die Berechtigung. Fragen Sie einen Inhaber Ihres Kontos.",
    limitedTitle: "Zu viele Anfragen",
    limited: (seconds: number | null) =>
      seconds === null
        ? "Warten Sie einen Moment und versuchen Sie es noch einmal."
        : `Warten Sie ${seconds} s und versuchen Sie es noch einmal.`,
    refusedTitle: "Der Dienst hat das abgelehnt",
    readOnly: "Ihre Sitzung darf nur lesen",
    delivered: "Zugestellt",
    failed: "Fehlgeschlagen",
    pending: "Ausstehend",
    test: "Test",
    from: "Von",
    to: "Bis",
    noTime: "Geben Sie eine Zeit an.",
    wrongOrder: "Sie muss nach der ersten liegen.",
    sparkline: (delivered: string, failed: string) =>
      `Letzte 24 Stunden: ${delivered} zugestellt, ${failed} fehlgeschlagen`,
  },
});
