/** SQL: the trigger of the delivery that a dispatch `d` becomes. */
export const DISPATCH_TRIGGER = /* sql */ `CASE WHEN d.once THEN 'retry' WHEN d.attempt = 1 THEN 'event' ELSE 'auto_retry' END`;
