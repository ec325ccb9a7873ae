/** True where the endpoint's slot is in the set, a parameter such as `$6`. */
export function inSlots(endpointId: string, parameter: string): string {
  return /* sql */ `get_bit(${parameter}::bytea, get_byte(uuid_send(${endpointId}), 15)) = 1`;
}
