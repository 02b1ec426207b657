/** Functions of texts and patterns, for the row oracle: over arrays of characters. */
import { finite, isList, number, type Plain, text } from './oracle-value.ts'

export type OracleFunction = (args: readonly Plain[]) => Plain

const characters = (value: Plain) => [...text(value)]
const whole = (value: Plain) => (number(value) === null ? null : Math.trunc(number(value)!))

function cut(from: readonly string[], start: number, end: number): string {
  return from.filter((_, i) => i >= start && i < end).join('')
}

function pad(args: readonly Plain[], front: boolean): Plain {
  const [value = null, length = null, fill = ' '] = args
  const wanted = whole(length)
  if (wanted === null) return null
  const list = characters(value)
  const filler = characters(fill)
  const added: string[] = []
  while (filler.length > 0 && list.length + added.length < wanted) {
    added.push(filler[added.length % filler.length]!)
  }
  return cut(front ? [...added, ...list] : [...list, ...added], 0, Math.max(0, wanted))
}

function strip([value = null, what]: readonly Plain[], front: boolean, back: boolean): Plain {
  const list = characters(value)
  const drops = (character: string | undefined) =>
    character !== undefined &&
    (what === undefined ? character.trim() === '' : characters(what).includes(character))
  while (front && drops(list[0])) list.shift()
  while (back && drops(list.at(-1))) list.pop()
  return list.join('')
}

function distance(a: readonly string[], b: readonly string[]): number {
  const known = new Map<string, number>()
  const between = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j
    const key = `${i} ${j}`
    const found = known.get(key)
    if (found !== undefined) return found
    const same = a[i - 1] === b[j - 1] ? 0 : 1
    const result = Math.min(
      between(i - 1, j) + 1,
      between(i, j - 1) + 1,
      between(i - 1, j - 1) + same,
    )
    known.set(key, result)
    return result
  }
  return between(a.length, b.length)
}

/** JavaScript's own, for the patterns that both understand alike; undefined for what is none. */
function expression(pattern: Plain, flags: Plain): RegExp | undefined {
  if (typeof pattern !== 'string' || !/^[ims]*$/.test(text(flags))) return undefined
  try {
    const unique = [...new Set(text(flags))].join('')
    return new RegExp(pattern.replaceAll('(?P<', '(?<'), `gu${unique}`)
  } catch {
    return undefined
  }
}

function groupsOf(pattern: RegExp): number {
  return new RegExp(`${pattern.source}|`, 'u').exec('')!.length - 1
}

export const textFunctions: Record<string, OracleFunction> = {
  left: ([value = null, count = null]) => {
    const list = characters(value)
    const end = whole(count)
    return end === null ? null : list.slice(0, end).join('')
  },
  right: ([value = null, count = null]) => {
    const list = characters(value)
    const size = whole(count)
    if (size === null) return null
    return size < 0 ? list.slice(-size).join('') : cut(list, list.length - size, list.length)
  },
  position: ([value = null, part = null]) => {
    const at = text(value).indexOf(text(part))
    return at < 0 ? 0 : [...text(value).slice(0, at)].length + 1
  },
  split: ([value = null, by = null]) =>
    text(by) === '' ? characters(value) : text(value).split(text(by)),
  split_part: (args) => {
    const parts = textFunctions.split!(args) as readonly string[]
    const place = number(args[2]!)
    if (place === null || place === 0 || !Number.isInteger(place)) return null
    return parts[place > 0 ? place - 1 : parts.length + place] ?? null
  },
  trim: (args) => strip(args, true, true),
  ltrim: (args) => strip(args, true, false),
  rtrim: (args) => strip(args, false, true),
  lpad: (args) => pad(args, true),
  rpad: (args) => pad(args, false),
  repeat: ([value = null, count = null]) => {
    const times = whole(count)
    return times === null ? null : Array.from({ length: times }, () => text(value)).join('')
  },
  reverse: ([value = null]) => characters(value).reverse().join(''),
  levenshtein: ([a = null, b = null]) => distance(characters(a), characters(b)),
  regexp_match: ([value = null, pattern = null, flags = '']) =>
    expression(pattern, flags)?.test(text(value)) ?? null,
  regexp_count: ([value = null, pattern = null, flags = '']) => {
    const compiled = expression(pattern, flags)
    return compiled ? [...text(value).matchAll(compiled)].length : null
  },
  regexp_extract: ([value = null, pattern = null, group, flags = '']) => {
    const compiled = expression(pattern, flags)
    if (!compiled) return null
    const match = [...text(value).matchAll(compiled)][0]
    if (typeof group === 'string') return match?.groups?.[group] ?? null
    const place = group === undefined ? Math.min(1, groupsOf(compiled)) : number(group)
    if (place === null || place > groupsOf(compiled)) return null
    return match?.[place] ?? null
  },
  /** Of replacements, those that name groups by one digit. */
  regexp_replace: ([value = null, pattern = null, by = null, flags = '']) => {
    const compiled = expression(pattern, flags)
    if (!compiled) return null
    // `\1`, `$1`, `${1}` and `${name}` are groups; two signs are one.
    const reference = /\\(\d)|\$(\d)|\$\{(\w+)\}|\\\\|\$\$/g
    const groups = [...text(by).matchAll(reference)].map(([, a, b, c]) => a ?? b ?? c)
    const known = new RegExp(`${compiled.source}|`, 'u').exec('')!
    const isGroup = (name: string) =>
      /^\d+$/.test(name) ? Number(name) < known.length : name in (known.groups ?? {})
    if (groups.some((group) => group !== undefined && !isGroup(group))) return null
    return text(value).replace(compiled, (...found) => {
      const last: unknown = found.at(-1)
      const named = typeof last === 'object' ? (last as Record<string, string>) : {}
      return text(by).replace(reference, (whole, a, b, c) => {
        const group = a ?? b ?? c
        return group === undefined ? whole[0] : (named[group] ?? found[Number(group)] ?? '')
      })
    })
  },
}

const logarithms: Record<string, (x: number) => number> = {
  log10: Math.log10,
  log2: Math.log2,
  cbrt: Math.cbrt,
}

export const numberFunctions: Record<string, OracleFunction> = {
  sign: ([a = null]) => (number(a) === null ? null : Math.sign(number(a)!)),
  mod: ([a = null, b = null]) =>
    number(a) === null || number(b) === null ? null : finite(number(a)! % number(b)!),
  /** By the decimal text; what has an exponent is far from all places that are asked for. */
  trunc: ([a = null, digits = 0]) => {
    const places = number(digits)
    if (number(a) === null || places === null || !Number.isInteger(places)) return null
    if (typeof a === 'bigint' && places >= 0) return a
    const shown = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(number(a)))
    if (!shown) return Math.abs(number(a)!) < 1 ? 0 : number(a)
    const [, sign, before, after = ''] = shown
    const kept = before!.padStart(400, '0') + after.padEnd(400, '0')
    const point = 400 + (before!.length > 400 ? before!.length - 400 : 0)
    const end = Math.max(0, point + places)
    const cutOff = kept.slice(0, end).padEnd(point, '0')
    return Number(`${sign}${cutOff.slice(0, point) || '0'}.${cutOff.slice(point)}0`)
  },
  pi: () => Math.PI,
  log: ([a = null, b]) => {
    if (b === undefined) return number(a) === null ? null : finite(Math.log10(number(a)!))
    if (number(a) === null || number(b) === null) return null
    return finite(Math.log(number(b)!) / Math.log(number(a)!))
  },
  ...Object.fromEntries(
    Object.entries(logarithms).map(([name, apply]): [string, OracleFunction] => [
      name,
      ([a = null]) => (number(a) === null ? null : finite(apply(number(a)!))),
    ]),
  ),
}

export function slice([array = null, from = null, to]: readonly Plain[]): Plain {
  const [start, end] = [number(from), to === undefined ? Number.POSITIVE_INFINITY : number(to)]
  if (!isList(array) || start === null || end === null) return null
  const place = (at: number) =>
    Math.trunc(at) < 0 ? array.length + Math.trunc(at) : Math.trunc(at)
  return array.filter((_, i) => i >= place(start) && i < place(end))
}
