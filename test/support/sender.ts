/** A real sender for tests that may reach 127.0.0.1 and trusts a receiver's CA. */
import type { TestContext } from "node:test";
import { makeAddressPolicy } from "../../src/outbound/address-rules.ts";
import { makeGuard, type GuardOptions } from "../../src/outbound/guard.ts";
import { makeSender, type SendOutcome, type Sender, type SenderLimits } from "../../src/outbound/send.ts";

export type SenderSetup = {
  guard?: Partial<GuardOptions>;
  limits?: Partial<SenderLimits>;
  allowedCidrs?: readonly string[];
};

/** Closed when the test ends. An empty `caPem` trusts Node's roots only. */
export function senderFor(test: TestContext, caPem: string, setup: SenderSetup = {}): Sender {
  const allowedCidrs = setup.allowedCidrs ?? ["127.0.0.0/8"];
  const guard = makeGuard({
    addressPolicy: makeAddressPolicy({ allowedCidrs, deniedCidrs: [] }),
    privateTargetsAllowed: true,
    blockedPorts: new Set(),
    ...setup.guard,
  });
  const sender = makeSender({
    guard,
    extraCaPems: caPem === "" ? [] : [caPem],
    ...(setup.limits === undefined ? {} : { limits: setup.limits }),
  });
  test.after(async () => {
    await sender.close();
    guard.close();
  });
  return sender;
}

export function post(sender: Sender, url: string, body = "{}"): Promise<SendOutcome> {
  return sender.send({ url, headers: { "Content-Type": "application/json" }, body });
}

/** An outcome in one word, for comparing: its status, its error code, or `unsafe:` and the rule. */
export function brief(outcome: SendOutcome): string {
  if (outcome.kind === "answered") return String(outcome.status);
  return outcome.kind === "unsafe" ? `unsafe:${outcome.rule}` : outcome.error;
}
