/** What sends to receivers, and the guard that judges where it may. */
import type { Config } from "../config.ts";
import { makeAddressPolicy } from "../outbound/address-rules.ts";
import { makeGuard } from "../outbound/guard.ts";
import { makeSender, type SenderLimits } from "../outbound/send.ts";

export function makeOutbound({
  config: { outbound },
  extraCaPems = [],
  senderLimits = {},
}: {
  config: Config;
  extraCaPems?: readonly string[];
  senderLimits?: Partial<SenderLimits>;
}) {
  const guard = makeGuard({
    addressPolicy: makeAddressPolicy({
      allowedCidrs: outbound.allowedCidrs,
      deniedCidrs: outbound.deniedCidrs,
    }),
    privateTargetsAllowed: outbound.allowedCidrs.length > 0,
    blockedPorts: outbound.blockedPorts,
    dnsServers: outbound.dnsServers,
  });
  return { guard, sender: makeSender({ guard, extraCaPems, limits: senderLimits }) };
}
