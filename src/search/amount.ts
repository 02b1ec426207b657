/** Numbers as people write them, with what they count. */
import type { PhraseReader, Unit } from './phrase.ts'

export interface Amount {
  readonly value: number
  readonly unit: Unit
  /** What the number as written was multiplied by for its unit. */
  readonly factor: number
  /** `5k+`: so much or more. */
  readonly isLeast?: boolean
}

const unitsOf: Readonly<Record<string, readonly [unit: Unit, factor: number]>> = {
  ms: ['seconds', 0.001],
  msec: ['seconds', 0.001],
  millisecond: ['seconds', 0.001],
  milliseconds: ['seconds', 0.001],
  s: ['seconds', 1],
  sec: ['seconds', 1],
  secs: ['seconds', 1],
  second: ['seconds', 1],
  seconds: ['seconds', 1],
  min: ['seconds', 60],
  mins: ['seconds', 60],
  minute: ['seconds', 60],
  minutes: ['seconds', 60],
  h: ['seconds', 3600],
  hour: ['seconds', 3600],
  hours: ['seconds', 3600],
  token: ['tokens', 1],
  tokens: ['tokens', 1],
  tok: ['tokens', 1],
  dollar: ['dollars', 1],
  dollars: ['dollars', 1],
  usd: ['dollars', 1],
  cent: ['dollars', 0.01],
  cents: ['dollars', 0.01],
  '%': ['share', 0.01],
  percent: ['share', 0.01],
}

const multipliers: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  million: 1e6,
}

const spelled: Readonly<Record<string, number>> = {
  zero: 0,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twelve: 12,
  twenty: 20,
  thirty: 30,
  fifty: 50,
  hundred: 100,
  'a hundred': 100,
}

const written = /^(-?)([$€£]?)(\d[\d,_]*(?:\.\d+)?|\.\d+)(k|m(?![a-z]))?([a-z%]*)(\+?)$/

/** Takes `3`, `3s`, `3 s`, `10k tokens`, `$0.10`, `50 %`, `5 million`, `ten`. */
export function takeAmount(reader: PhraseReader): Amount | undefined {
  return reader.attempt(() => {
    const single = reader.attempt(() => takeSingle(reader))
    if (single) return single
    const parsed = reader.takeIf(parseNumber)
    if (!parsed) return undefined
    let { value, unit, factor } = parsed
    const multiplier = reader.takeIf((word) =>
      Object.hasOwn(multipliers, word) ? multipliers[word] : undefined,
    )
    if (multiplier !== undefined) value *= multiplier
    if (unit === 'none') {
      const found = reader.takeIf((word) =>
        Object.hasOwn(unitsOf, word) ? unitsOf[word] : undefined,
      )
      if (found) {
        unit = found[0]
        factor = found[1]
        value = scaled(value, factor)
      }
    }
    return { value, unit, factor, ...(parsed.isLeast && { isLeast: true }) }
  })
}

/** `a second`, `half a minute`, `a dollar`. */
function takeSingle(reader: PhraseReader): Amount | undefined {
  const half = reader.take('half a', 'half an', 'half') !== undefined
  if (!half && !reader.take('a', 'an', 'one')) return undefined
  const found = reader.takeIf((word) => (Object.hasOwn(unitsOf, word) ? unitsOf[word] : undefined))
  if (!found || found[0] === 'tokens' || found[0] === 'share') return undefined
  const [unit, factor] = found
  return { value: scaled(half ? 0.5 : 1, factor), unit, factor }
}

/** Takes `1k-5k`, `100-500 ms`: both in one word. */
export function takeAmounts(reader: PhraseReader): readonly [Amount, Amount] | undefined {
  return reader.attempt(() => {
    const pair = reader.takeIf((word) => {
      const [, first, second] = /^([^-]+)-([^-]+)$/.exec(word) ?? []
      const low = first === undefined ? undefined : parseNumber(first)
      const high = second === undefined ? undefined : parseNumber(second)
      return low && high && ([low, high] as const)
    })
    if (!pair) return undefined
    const [low, high] = pair
    const found =
      high.unit === 'none'
        ? reader.takeIf((word) => (Object.hasOwn(unitsOf, word) ? unitsOf[word] : undefined))
        : undefined
    if (!found) return pair
    const [unit, factor] = found
    return [low, { value: scaled(high.value, factor), unit, factor }]
  })
}

/** Takes a whole number that counts things. */
export function takeCount(reader: PhraseReader): number | undefined {
  return reader.takeIf((word) => {
    if (Object.hasOwn(spelled, word)) return spelled[word]
    const parsed = parseNumber(word)
    const fits =
      parsed && parsed.unit === 'none' && !parsed.isLeast && Number.isInteger(parsed.value)
    return fits && parsed.value >= 0 ? parsed.value : undefined
  })
}

function parseNumber(word: string): Amount | undefined {
  if (Object.hasOwn(spelled, word)) return { value: spelled[word]!, unit: 'none', factor: 1 }
  const found = written.exec(word)
  if (!found) return undefined
  const [, minus, currency, digits, multiplier, unitName, plus] = found
  const least = plus === '+' ? { isLeast: true } : {}
  let value = Number(digits!.replace(/[,_]/g, ''))
  if (!Number.isFinite(value)) return undefined
  if (minus) value = -value
  // `5m` is five minutes only if nothing says millions; people write both, tokens are said to be so.
  if (multiplier) value *= multipliers[multiplier]!
  if (currency) return unitName === '' ? { value, unit: 'dollars', factor: 1, ...least } : undefined
  if (unitName === '') return { value, unit: 'none', factor: 1, ...least }
  const unit = Object.hasOwn(unitsOf, unitName!) ? unitsOf[unitName!]! : undefined
  return unit && { value: scaled(value, unit[1]), unit: unit[0], factor: unit[1], ...least }
}

/** Without the noise that a product of doubles may end in: 0.1 * 3. */
export function scaled(value: number, factor: number): number {
  return Number((value * factor).toPrecision(12))
}
