/** The values of both signature headers: their parts, and what is wrong with their form. */
import { bytesOf } from "./secrets.ts";

export type FormFault =
  | "commaList"
  | "versionLost"
  | "hexForBase64"
  | "base64ForHex"
  | "notBase64"
  | "notHex"
  | "signatureLength"
  | "noSignature"
  | "prefixLost";

/** `hex`: the signatures in it, read with good will. `others`: versions that no one signs with here. */
export type Signatures = { hex: string[]; faults: FormFault[]; others: string[] };

const HEX = /^[0-9a-f]+$/i;
const BYTES = 32;

/** `webhook-signature`: `v1,` and base64, several of them behind spaces. */
export function readStandard(value: string): Signatures {
  const found: Signatures = { hex: [], faults: [], others: [] };
  // A proxy may join two headers of one name by a comma.
  const separated = value.replaceAll(/,\s*(?=v\d\w*,)/g, " ");
  if (separated !== value) found.faults.push("commaList");
  for (const part of separated.split(/\s+/).filter((one) => one !== "")) {
    const [, version, signature = part] = /^(v\d\w*),(.*)$/s.exec(part) ?? [];
    if (version !== undefined && version !== "v1") {
      found.others.push(version);
      continue;
    }
    if (version === undefined) found.faults.push("versionLost");
    if (HEX.test(signature) && signature.length === 2 * BYTES) {
      found.faults.push("hexForBase64");
      found.hex.push(signature.toLowerCase());
      continue;
    }
    addBytes(found, bytesOf(signature), "notBase64");
  }
  return ended(found);
}

/** `X-Service-Signature`: `sha256=` and hex, one alone. */
export function readService(value: string): Signatures {
  const found: Signatures = { hex: [], faults: [], others: [] };
  const [, signature] = /^sha256=(.*)$/is.exec(value) ?? [];
  if (signature === undefined) found.faults.push("prefixLost");
  const bare = signature ?? value;
  if (HEX.test(bare)) {
    found.hex.push(bare.toLowerCase());
    if (bare.length !== 2 * BYTES) found.faults.push("signatureLength");
    return found;
  }
  const bytes = bytesOf(bare);
  if (bytes?.length === BYTES) {
    found.faults.push("base64ForHex");
    found.hex.push(hexOf(bytes));
  } else found.faults.push("notHex");
  return ended(found);
}

function addBytes({ hex, faults }: Signatures, bytes: Uint8Array | null, fault: FormFault): void {
  if (bytes === null) faults.push(fault);
  else if (bytes.length !== BYTES) faults.push("signatureLength");
  else hex.push(hexOf(bytes));
}

function ended(found: Signatures): Signatures {
  if (found.hex.length === 0 && found.faults.length === 0) found.faults.push("noSignature");
  return { ...found, faults: [...new Set(found.faults)] };
}

export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");
}
