/**
 * True where the endpoint's slot is in the set, a parameter such as `$6`. "Not 0" and not "1":
 * PostgreSQL expects the first of nearly all rows and the second of one in 200,
 * for which it would rather sort than read an index in its order.
 */
export function inSlots(endpointId: string, parameter: string): string {
  return /* sql */ `get_bit(${parameter}::bytea, get_byte(uuid_send(${endpointId}), 15)) <> 0`;
}
