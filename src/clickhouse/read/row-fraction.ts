/** The hash of pagination keys by which samples choose (`type/hash.ts`), in SQL. */

const lowSeed = 0x2f0b4a27
const highSeed = 0x6d1c93b5

/** Of the column `pagination_key`: a number from 0 to below 1. */
export function rowFractionSql(seed: number): string {
  const name = `sampled_${seed >>> 0}`
  const low = half(lowSeed ^ seed, `${name}_low`, 5)
  const high = half(highSeed ^ seed, `${name}_high`, 6)
  return `((toFloat64(${high}) * 134217728 + toFloat64(${low})) / 9007199254740992)`
}

/** Of transaction and index: transaction's lower and upper bits, and the index. */
const words = [
  'toUInt32(bitAnd(bitShiftRight(pagination_key, 16), 4294967295))',
  'toUInt32(bitShiftRight(pagination_key, 48))',
  'toUInt32(bitAnd(pagination_key, 65535))',
]

function half(seed: number, name: string, shift: number): string {
  const mixed = words.reduce(mix, `toUInt32(${seed >>> 0})`)
  return `bitShiftRight(${finish(`bitXor(${mixed}, toUInt32(20))`, name)}, ${shift})`
}

/** Products of 32 bits have 64, of which the lower ones count. */
function product(sql: string, factor: number): string {
  return `toUInt32(toUInt64(${sql}) * ${factor})`
}

function mix(hash: string, word: string): string {
  const scattered = product(`bitRotateLeft(${product(word, 0xcc9e2d51)}, 15)`, 0x1b873593)
  const turned = `bitRotateLeft(bitXor(${hash}, ${scattered}), 13)`
  return `toUInt32(toUInt64(${turned}) * 5 + ${0xe6546b64})`
}

/** Steps have names, as each is asked for twice. */
function finish(hash: string, name: string): string {
  const shifted = (sql: string, bits: number, step: string) =>
    `bitXor((${sql}) AS ${name}_${step}, bitShiftRight(${name}_${step}, ${bits}))`
  const first = product(shifted(hash, 16, 'a'), 0x85ebca6b)
  const second = product(shifted(first, 13, 'b'), 0xc2b2ae35)
  return shifted(second, 16, 'c')
}
