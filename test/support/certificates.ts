/** A certificate authority for tests, and leaf certificates good and bad. */
import { webcrypto } from "node:crypto";
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 86_400_000;

export type KeyAndCertificate = { keyPem: string; certPem: string };

export type LeafOptions = {
  names?: readonly string[];
  ips?: readonly string[];
  notBefore?: Date;
  notAfter?: Date;
};

export type TestCa = {
  caPem: string;
  /** A leaf signed by this CA; by default for 127.0.0.1 and localhost, valid today. */
  issue(options?: LeafOptions): Promise<KeyAndCertificate>;
};

export async function makeTestCa(commonName = "Test CA"): Promise<TestCa> {
  const keys = await generateKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    keys,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 2 * DAY_MS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    caPem: ca.toString("pem"),
    async issue(options = {}) {
      const leafKeys = await generateKeys();
      const leaf = await x509.X509CertificateGenerator.create({
        ...leafParams(options),
        issuer: ca.subject,
        signingKey: keys.privateKey,
        publicKey: leafKeys.publicKey,
      });
      return exportPair(leaf, leafKeys);
    },
  };
}

/** A leaf that no authority signed. */
export async function makeSelfSigned(options: LeafOptions = {}): Promise<KeyAndCertificate> {
  const keys = await generateKeys();
  const { subject, ...params } = leafParams(options);
  const leaf = await x509.X509CertificateGenerator.createSelfSigned({ ...params, name: subject, keys });
  return exportPair(leaf, keys);
}

/** A leaf whose time ran out yesterday. */
export function issueExpired(ca: TestCa, options: LeafOptions = {}): Promise<KeyAndCertificate> {
  return ca.issue({
    ...options,
    notBefore: new Date(Date.now() - 2 * DAY_MS),
    notAfter: new Date(Date.now() - DAY_MS),
  });
}

function leafParams(options: LeafOptions) {
  const names = options.names ?? ["localhost"];
  const ips = options.ips ?? ["127.0.0.1"];
  return {
    subject: "CN=receiver",
    notBefore: options.notBefore ?? new Date(Date.now() - DAY_MS),
    notAfter: options.notAfter ?? new Date(Date.now() + DAY_MS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        ...names.map((value) => ({ type: "dns" as const, value })),
        ...ips.map((value) => ({ type: "ip" as const, value })),
      ]),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    ],
  };
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
}

async function exportPair(
  certificate: x509.X509Certificate,
  keys: webcrypto.CryptoKeyPair,
): Promise<KeyAndCertificate> {
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { keyPem: x509.PemConverter.encode(pkcs8, "PRIVATE KEY"), certPem: certificate.toString("pem") };
}
