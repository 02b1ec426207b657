type Reviver = (
  this: unknown,
  key: string,
  value: unknown,
  context?: { source?: string },
) => unknown

/** JSON in which integers of which a double cannot hold all digits stay the text that they came as. */
export function parseExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  const keep: Reviver = (_, value, context) => {
    const isRounded = typeof value === 'number' && !Number.isSafeInteger(value)
    const source = context?.source
    return isRounded && source !== undefined && /^-?\d{16,}$/.test(source) ? source : value
  }
  return JSON.parse(text, keep)
}
