/**
 * What masking rules make of the JSON text of a row, found the slow way: the text is read into a tree that
 * keeps how everything was spelled, each value is asked which rules reach it, and texts are searched by
 * expressions of JavaScript. It shares no code with `src/masking`.
 */
import { createHmac } from 'node:crypto'

export interface OracleRule {
  /** Names, numbers, or `*` for anything. */
  readonly path?: readonly (string | number)[]
  readonly fields?: readonly string[]
  readonly pattern?: { readonly type: string; readonly expression?: string }
  readonly action: { readonly type: string; readonly text?: string }
}

type Node =
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Node])[] }
  | { readonly kind: 'array'; readonly elements: readonly Node[] }
  /** As it is spelled. */
  | { readonly kind: 'text' | 'other'; readonly raw: string }

const patterns: Readonly<Record<string, RegExp>> = {
  email: /[A-Za-z0-9_+][A-Za-z0-9_+.%-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}/g,
  phone: /(?<![\w+])\+\d(?:[ -]?\d){7,14}(?!\d)/g,
  iban: /(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)/g,
  key: /(?<![A-Za-z0-9])(?:sk-[\w-]{16,}|AKIA[A-Z0-9]{16}(?!\w)|ghp_[A-Za-z0-9]{20,})/g,
  jwt: /(?<![A-Za-z0-9])eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*/g,
}

const exempt = ['id', 'span_id', 'root_span_id', 'span_parents', 'created', 'project_id', 'log_id']

/** The row, without any space between its parts. */
export function maskByOracle(row: string, rules: readonly OracleRule[], key: Uint8Array): string {
  const reader = new Reader(row)
  const node = reader.value()
  if (node.kind !== 'object') throw new Error('no row')
  const masker = new OracleMasker(rules, key)
  return masker.object(node.members, [], true)
}

class OracleMasker {
  readonly #rules: readonly OracleRule[]
  readonly #key: Uint8Array

  constructor(rules: readonly OracleRule[], key: Uint8Array) {
    this.#rules = rules
    this.#key = key
  }

  object(
    members: readonly (readonly [string, Node])[],
    path: readonly (string | number)[],
    isRow = false,
  ): string {
    const kept = members.flatMap(([raw, value]) => {
      const name = JSON.parse(`"${raw}"`) as string
      if (isRow && exempt.includes(name)) return [`"${raw}":${printed(value)}`]
      const place = [...path, name]
      const masked = this.#named(raw, path)
      const printedValue = this.#value(value, place)
      return masked === undefined || printedValue === undefined
        ? []
        : [`"${masked}":${printedValue}`]
    })
    return `{${kept.join()}}`
  }

  /** Undefined: it is dropped. */
  #value(node: Node, path: readonly (string | number)[]): string | undefined {
    const whole = this.#rules.find((rule) => rule.pattern === undefined && isAt(rule, path))
    if (whole) return this.#whole(node, whole, path)
    if (node.kind === 'object') return this.object(node.members, path)
    if (node.kind === 'array') {
      const elements = node.elements.map((element, i) => this.#value(element, [...path, i]))
      return `[${elements.filter((element) => element !== undefined).join()}]`
    }
    const active = this.#rules.filter((rule) => rule.pattern !== undefined && isWithin(rule, path))
    if (node.kind === 'text') return `"${this.#text(node.raw, active)}"`
    const card = active.find(({ pattern }) => pattern?.type === 'card')
    const isCard = card && /^\d{13,19}$/.test(node.raw) && isCardNumber(node.raw)
    return isCard ? JSON.stringify(this.#masked(card, node.raw)) : node.raw
  }

  #whole(node: Node, rule: OracleRule, path: readonly (string | number)[]): string | undefined {
    const isTyped = path.length === 1 && ['metadata', 'tags'].includes(String(path[0]))
    if (rule.action.type === 'drop' || isTyped) return undefined
    if (node.kind === 'other' && node.raw === 'null') return 'null'
    if (node.kind === 'text') {
      return JSON.stringify(this.#masked(rule, JSON.parse(`"${node.raw}"`) as string))
    }
    const text = printed(node)
    const isContainer = node.kind !== 'other'
    if (isContainer && rule.action.type === 'keep_last_four') return '"****"'
    return JSON.stringify(this.#masked(rule, text))
  }

  #named(raw: string, path: readonly (string | number)[]): string | undefined {
    const active = this.#rules.filter(({ pattern, ...rule }) => {
      return pattern && pattern.type !== 'expression' && isWithin(rule, path)
    })
    const found = this.#found(raw, active)
    return found.some(({ rule }) => rule.action.type === 'drop')
      ? undefined
      : this.#text(raw, active)
  }

  #found(raw: string, rules: readonly OracleRule[]) {
    const { text } = unitsOf(raw)
    const types = new Set<string>()
    const found = rules.flatMap((rule, order) => {
      const { type, expression } = rule.pattern!
      if (type !== 'expression' && types.has(type)) return []
      types.add(type)
      const searched = expression === undefined ? patterns[type]! : new RegExp(expression, 'g')
      return matchesOf(type, text, searched).map(([start, end]) => ({ start, end, order, rule }))
    })
    found.sort((a, b) => a.start - b.start || a.end - b.end)
    const result: typeof found = []
    for (const one of found) {
      const last = result.at(-1)
      if (!last || one.start >= last.end) result.push(one)
      else {
        const first = one.order < last.order ? one : last
        result[result.length - 1] = {
          ...first,
          start: last.start,
          end: Math.max(last.end, one.end),
        }
      }
    }
    return result
  }

  #text(raw: string, rules: readonly OracleRule[]): string {
    const { units, text } = unitsOf(raw)
    let result = ''
    let at = 0
    for (const { start, end, rule } of this.#found(raw, rules)) {
      result += units.slice(at, start).join('')
      result += JSON.stringify(this.#masked(rule, text.slice(start, end))).slice(1, -1)
      at = end
    }
    return result + units.slice(at).join('')
  }

  #masked({ action, pattern }: OracleRule, text: string): string {
    if (action.type === 'drop') return ''
    if (action.type === 'hash') {
      return `hash:${createHmac('sha256', this.#key).update(text).digest('hex').slice(0, 32)}`
    }
    if (action.type === 'keep_last_four') {
      const characters = [...text]
      return `****${characters.length < 8 ? '' : characters.slice(-4).join('')}`
    }
    const name = pattern === undefined || pattern.type === 'expression' ? 'masked' : pattern.type
    return action.text ?? `[${name}]`
  }
}

function cardsOf(text: string): [number, number][] {
  const found: [number, number][] = []
  for (let start = 0; start < text.length; start++) {
    if (/[\w.]/.test(text[start - 1] ?? ' ')) continue
    for (let count = 19; count >= 13; count--) {
      const form = new RegExp(`^\\d(?:[ -]?\\d){${count - 1}}(?!\\w)`)
      const match = form.exec(text.slice(start))?.[0]
      if (match === undefined || !isCardNumber(match.replace(/\D/g, ''))) continue
      found.push([start, start + match.length])
      start += match.length - 1
      break
    }
  }
  return found
}

function matchesOf(type: string, text: string, pattern: RegExp): [number, number][] {
  if (type === 'card') return cardsOf(text)
  return Array.from(text.matchAll(pattern)).flatMap(({ 0: match, index }): [number, number][] => {
    const length = type === 'iban' ? ibanLength(match) : match.length
    return length === 0 ? [] : [[index, index + length]]
  })
}

/** Whether the rule reaches exactly what is at the path. */
function isAt(rule: OracleRule, path: readonly (string | number)[]): boolean {
  const { path: own = [], fields } = rule
  if (fields === undefined) return own.length === path.length && isPrefix(own, path)
  const name = path.at(-1)
  const isNamed = typeof name === 'string' && fields.some((field) => fold(field) === fold(name))
  return isNamed && path.length > own.length && isPrefix(own, path)
}

/** Whether it reaches that, or something that it is in. */
function isWithin(rule: OracleRule, path: readonly (string | number)[]): boolean {
  return [...path, ''].some((_, i) => isAt(rule, path.slice(0, i)))
}

function isPrefix(own: readonly (string | number)[], path: readonly (string | number)[]): boolean {
  return own.every((step, i) => {
    if (step === '*') return true
    return step === '[*]' ? typeof path[i] === 'number' : step === path[i]
  })
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[-_. ]/g, '')
}

function isCardNumber(digits: string): boolean {
  if (!/^(?:[3-6]|2[2-7])/.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

/** Other words may follow that look like more of it. */
function ibanLength(text: string): number {
  const words = text.split(' ')
  const ends = words.map((_, i) => words.slice(0, words.length - i).join(' '))
  return ends.find((end) => isIban(end.replaceAll(' ', '')))?.length ?? 0
}

function isIban(text: string): boolean {
  if (text.length < 15) return false
  const moved = text.slice(4) + text.slice(0, 4)
  const digits = moved.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))
  return BigInt(digits) % 97n === 1n
}

/** A string by its UTF-16 units: how each is spelled, and what all say. */
function unitsOf(raw: string): { units: string[]; text: string } {
  const units = Array.from(raw.matchAll(/\\u[0-9a-fA-F]{4}|\\.|[^\\]/gs), ([unit]) => unit)
  return { units, text: JSON.parse(`"${raw}"`) as string }
}

function printed(node: Node): string {
  if (node.kind === 'object') {
    return `{${node.members.map(([name, value]) => `"${name}":${printed(value)}`).join()}}`
  }
  if (node.kind === 'array') return `[${node.elements.map(printed).join()}]`
  return node.kind === 'text' ? `"${node.raw}"` : node.raw
}

class Reader {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []
  }

  value(): Node {
    const token = this.#tokens[this.#at++]!
    if (token === '{') return { kind: 'object', members: this.#parts('}', () => this.#member()) }
    if (token === '[') return { kind: 'array', elements: this.#parts(']', () => this.value()) }
    if (token.startsWith('"')) return { kind: 'text', raw: token.slice(1, -1) }
    return { kind: 'other', raw: token }
  }

  #member(): readonly [string, Node] {
    const name = this.#tokens[this.#at]!.slice(1, -1)
    this.#at += 2
    return [name, this.value()]
  }

  #parts<T>(close: string, read: () => T): T[] {
    const parts: T[] = []
    while (this.#tokens[this.#at] !== close) {
      parts.push(read())
      if (this.#tokens[this.#at] === ',') this.#at++
    }
    this.#at++
    return parts
  }
}
