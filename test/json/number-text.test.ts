import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDouble } from '../../src/json/number-text.ts'

const held = (text: string) => isDouble(text, Number(text))

test('a double as any program writes it is one', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(held(String(value))).toBe(true)
      expect(held(value.toExponential(16))).toBe(true)
      expect(held(value.toPrecision(17))).toBe(true)
    }),
  )
  for (const text of [
    '0.10000000000000001',
    '1.000000000000000000000',
    '100000000000000000000.0',
    '-0.50e-300',
  ])
    expect(held(text)).toBe(true)
})

test('what has more digits is none', () => {
  for (const text of [
    '0.123456789012345678',
    '12345678901234567890.123456789',
    '-1.2345678901234567890e10',
    '0.1000000000000000055511151231257827',
    '1e400',
  ]) {
    expect(held(text)).toBe(false)
  }
})
