/** Receivers that a test steers while it runs. */
import { createHmac } from "node:crypto";
import type { Answer, ReceivedRequest, Respond } from "./tls-receiver.ts";

export type Steered = {
  respond: Respond;
  /** What the receiver answers from now on; undefined never answers. */
  answer: (request: ReceivedRequest) => Answer | undefined | Promise<Answer | undefined>;
};

/** A receiver's behaviour that a test may exchange at any time; at first it answers 200. */
export function steered(): Steered {
  const behaviour: Steered = {
    answer: () => ({}),
    respond: (request) => behaviour.answer(request),
  };
  return behaviour;
}

/** What `X-Service-Signature` must be: keyed with the whole secret in UTF-8. */
export function serviceSignature(secret: string, request: Pick<ReceivedRequest, "headers" | "body">): string {
  const message = `${String(request.headers["x-service-timestamp"])}.${request.body.toString("utf8")}`;
  return `sha256=${createHmac("sha256", secret).update(message).digest("hex")}`;
}

/** One entry of `webhook-signature`: keyed with the decoded bytes of the secret, or a text of one's own as it is. */
export function webhookSignature(secret: string, request: Pick<ReceivedRequest, "headers" | "body">): string {
  const { headers } = request;
  const key = secret.startsWith("whsec_")
    ? Buffer.from(secret.slice("whsec_".length), "base64")
    : Buffer.from(secret);
  const message = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${request.body.toString("utf8")}`;
  return `v1,${createHmac("sha256", key).update(message).digest("base64")}`;
}
