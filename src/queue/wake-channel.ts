/** The channel on which workers hear that a dispatch is due or an event is in the outbox. `postern.publish` names it too. */
export const WAKE_CHANNEL = "postern_dispatch";
