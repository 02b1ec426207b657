/** `out[i] = code` where the condition is true (1); other rows are left as they are. */
export function chooseCode(
  conditions: Uint8Array,
  code: number,
  count: number,
  out: Int32Array,
): void {
  for (let i = 0; i < count; i++) {
    const chosen = 0 - (conditions[i]! & 1)
    out[i] = (out[i]! & ~chosen) | (code & chosen)
  }
}
