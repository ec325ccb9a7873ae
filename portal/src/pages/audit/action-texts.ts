import type { Schemas } from "../../api/client.ts";
import { defineTexts } from "../../texts/texts.ts";

export type Action = Schemas["AuditEntry"]["action"];

const en = {
  "endpoint.created": "Endpoint created",
  "endpoint.updated": "Endpoint changed",
  "endpoint.enabled": "Endpoint enabled",
  "endpoint.disabled": "Endpoint disabled",
  "endpoint.deleted": "Endpoint deleted",
  "secret.rotated": "Signing secret rotated",
  "endpoint.tested": "Test sent",
  "delivery.retried": "Delivery sent again",
  "event.sent": "Event sent to an endpoint",
  "replay.requested": "Replay started",
  "replay.canceled": "Replay canceled",
  "portal.granted": "Portal opened for somebody",
  "tenant.token_granted": "Token given to the operator",
  "tenant.erased": "Account erased",
  "url.refused": "URL refused",
  "authentication.failed": "Authentication failed",
  "limit.reached": "Limit reached",
  "access.refused": "Access refused",
  "keys.rotation_started": "Key rotation started",
  "keys.rotated": "Keys rotated",
  "keys.forgotten": "Lost key given up",
  "export.requested": "Export requested",
  "artifact.download_granted": "Download link given",
  "artifact.erased": "File erased",
  "artifact.hold_set": "File put on hold",
  "artifact.hold_ended": "Hold of a file ended",
  "storage_settings.updated": "Storage settings changed",
} as const satisfies Record<Action, string>;

const de = {
  "endpoint.created": "Endpunkt angelegt",
  "endpoint.updated": "Endpunkt geändert",
  "endpoint.enabled": "Endpunkt aktiviert",
  "endpoint.disabled": "Endpunkt deaktiviert",
  "endpoint.deleted": "Endpunkt gelöscht",
  "secret.rotated": "Signaturgeheimnis gewechselt",
  "endpoint.tested": "Test gesendet",
  "delivery.retried": "Zustellung noch einmal gesendet",
  "event.sent": "Ereignis an einen Endpunkt gesendet",
  "replay.requested": "Wiederholung gestartet",
  "replay.canceled": "Wiederholung abgebrochen",
  "portal.granted": "Portal für jemanden geöffnet",
  "tenant.token_granted": "Token an den Betreiber gegeben",
  "tenant.erased": "Konto gelöscht",
  "url.refused": "URL abgelehnt",
  "authentication.failed": "Anmeldung fehlgeschlagen",
  "limit.reached": "Grenze erreicht",
  "access.refused": "Zugriff abgelehnt",
  "keys.rotation_started": "Schlüsselwechsel begonnen",
  "keys.rotated": "Schlüssel gewechselt",
  "keys.forgotten": "Verlorener Schlüssel aufgegeben",
  "export.requested": "Export angefordert",
  "artifact.download_granted": "Link zum Herunterladen gegeben",
  "artifact.erased": "Datei gelöscht",
  "artifact.hold_set": "Datei zurückgehalten",
  "artifact.hold_ended": "Datei nicht mehr zurückgehalten",
  "storage_settings.updated": "Speichereinstellungen geändert",
} as const satisfies Record<Action, string>;

export const actionTexts = defineTexts<Record<Action, string>>({ en, de });

export const ACTIONS = Object.keys(en).filter(isAction);

function isAction(name: string): name is Action {
  return Object.hasOwn(en, name);
}
