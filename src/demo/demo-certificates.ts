import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const LIFE_MS = 365 * 86_400_000;

export type DemoCertificates = { caPem: string; certificatePem: string; keyPem: string };

/** A CA for this one start and a certificate of it for the receiver's address. */
export async function makeDemoCertificates(ipAddress: string): Promise<DemoCertificates> {
  const validity = { notBefore: new Date(Date.now() - 86_400_000), notAfter: new Date(Date.now() + LIFE_MS) };
  const caKeys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: "CN=Postern demonstration CA",
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.create({
    ...validity,
    subject: "CN=Postern demonstration receiver",
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new SubjectAlternativeNameExtension([{ type: "ip", value: ipAddress }]),
      await AuthorityKeyIdentifierExtension.create(ca),
    ],
  });
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    caPem: ca.toString("pem"),
    certificatePem: certificate.toString("pem"),
    keyPem: PemConverter.encode(pkcs8, PemConverter.PrivateKeyTag),
  };
}
