/**
 * Masks the values of rows in the bytes of their JSON. Nothing else of a row changes: no other value, no
 * space, no order, no number's digits. Values are decoded only where something shows that a rule may match.
 */
import { createHmac } from 'node:crypto'
import { ByteWriter } from '../json/byte-writer.ts'
import { JsonScanner, maximumDepth } from '../json/scan.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { DecodedString } from './decoded-string.ts'
import { Edits } from './edits.ts'
import { isCardNumber } from './find-match.ts'
import type { MemberName } from './names.ts'
import { type PathState, PathStates } from './path-states.ts'
import { type MaskingRule, type MaskingRules, replacementOf } from './rule.ts'
import { TextMatches } from './text-matches.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const backslash = 0x5c

/** Hashes that are kept, and how long their texts may be. */
const mostKept = 4096
const longestKept = 200

const whole = /^(?:hash:[0-9a-f]{32}|\*{4}.{0,4})$/su

export class Masker {
  #edits = new Edits()
  readonly #rules: readonly MaskingRule[]
  readonly #key: Uint8Array
  readonly #states: PathStates
  readonly #matches: TextMatches
  readonly #cardRules: ReadonlySet<number>
  /** States of fields of rows, by the groups of their names. */
  readonly #fields: PathState[] = []
  readonly #datasetFields: PathState[] = []
  readonly #hashes = new Map<string, string>()
  readonly #decoded = new DecodedString()
  #bytes: Buffer = Buffer.alloc(0)
  #end = 0
  #at = 0
  /** Where the row begins. */
  #start = 0
  #isInScores = false
  #scanner = new JsonScanner(this.#bytes)

  constructor({ rules, key }: MaskingRules) {
    this.#rules = rules
    this.#key = key
    this.#states = new PathStates(rules)
    this.#matches = new TextMatches(rules)
    this.#states.names.bitsOf = (text) => this.#matches.bitsOf(text)
    const cards = rules.flatMap(({ pattern }, rule) => (pattern?.type === 'card' ? [rule] : []))
    this.#cardRules = new Set(cards)
  }

  /** Goes on with values of another text, and adds what becomes of them to `edits`. */
  begin(bytes: Uint8Array, edits: Edits): void {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#end = bytes.length
    this.#scanner = new JsonScanner(this.#bytes)
    this.#matches.scan.begin(this.#bytes)
    this.#edits = edits
  }

  /** Lets go of the text. */
  end(): void {
    this.begin(Buffer.alloc(0), new Edits())
  }

  /**
   * Masks the row that begins at `start`, and returns where it ends. Throws what the scanner of JSON does
   * where that is none; what it does not find is found by who reads the row next.
   */
  row(start: number, isOfDataset: boolean): number {
    this.#at = start
    this.#start = start
    if (this.#peek() !== openBrace) this.#skip()
    else this.#object(this.#states.root, 0, isOfDataset ? 'dataset' : 'row')
    return this.#at
  }

  /** The same of any value, of which no field is exempt. */
  value(start: number): number {
    this.#at = start
    this.#start = start
    this.#isInScores = false
    this.#value(this.#states.root, 0)
    return this.#at
  }

  /** A text that is no JSON, masked; itself if nothing of it was to be. */
  text(bytes: Buffer): Buffer {
    const edits = new Edits()
    const { patterns } = this.#states.root
    this.#matches.scan.text(bytes, 0, bytes.length)
    if (!this.#matches.mayMatch(patterns, this.#matches.scan.bits)) return bytes
    for (const { start, end, rule } of this.#matches.find(bytes, 0, bytes.length, patterns)) {
      edits.add(start, end, this.#masked(rule, bytes.toString('utf8', start, end)), rule)
    }
    return edits.length === 0 ? bytes : edits.apply(bytes, 0, bytes.length)
  }

  #peek(): number {
    const bytes = this.#bytes
    let at = this.#at
    while (at < this.#end && bytes[at]! <= 0x20) at++
    this.#at = at
    return at < this.#end ? bytes[at]! : -1
  }

  /** Passes a value, or throws what is wrong with it. */
  #skip(): void {
    this.#scanner.position = this.#at
    this.#scanner.value()
    this.#at = this.#scanner.position
  }

  /** Passes a value in which nothing is masked. Whoever reads the row next checks it. */
  #pass(): void {
    const byte = this.#peek()
    if (byte === openBrace || byte === openBracket) this.#skip()
    else if (byte === quote) this.#at = this.#stringEnd(this.#at)
    else this.#passScalar()
  }

  #passScalar(): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < this.#end && !endsScalar(bytes[at]!)) at++
    if (at === this.#at) this.#fail()
    this.#at = at
  }

  /** What is here is not what JSON has here: throws what the scanner says of the whole value. */
  #fail(): never {
    new JsonScanner(this.#bytes, this.#start).value()
    throw new Error('a value could not be read to be masked')
  }

  #value(state: PathState, depth: number): void {
    const byte = this.#peek()
    if (state.isInert || depth >= maximumDepth) this.#pass()
    else if (byte === openBrace) this.#object(state, depth, 'value')
    else if (byte === openBracket) this.#array(state, depth)
    else if (byte === quote && state.patterns.length > 0) this.#string(state.patterns, false)
    else if (byte === quote) this.#at = this.#stringEnd(this.#at)
    else this.#scalar(state)
  }

  #object(state: PathState, depth: number, kind: 'row' | 'dataset' | 'value'): void {
    // What is dropped goes with the comma before it or, at the beginning, with the one that follows.
    let before = -1
    this.#at++
    if (this.#peek() === closeBrace) {
      this.#at++
      return
    }
    for (;;) {
      if (this.#peek() !== quote) this.#fail()
      const start = this.#at
      const edits = this.#edits.length
      const dropRule = this.#member(state, depth, kind)
      const ended = this.#at
      const byte = this.#peek()
      if (byte !== comma && byte !== closeBrace) this.#fail()
      if (dropRule === undefined) before = this.#at
      else {
        this.#edits.truncate(edits)
        before = this.#drop(before, start, ended, byte === comma, dropRule)
      }
      this.#at++
      if (byte === closeBrace) return
    }
  }

  /** Passes a member; returns the rule that drops it, if one does. */
  #member(state: PathState, depth: number, kind: 'row' | 'dataset' | 'value'): number | undefined {
    const start = this.#at
    const { names } = this.#states
    const again = names.again(this.#bytes, start + 1)
    const end = again ? start + again.bytes.length + 2 : this.#stringEnd(start)
    const name = again ?? names.read(this.#bytes, start + 1, end - 1)
    const isRow = kind !== 'value'
    const isExempt = isRow && name.isExempt
    const mayMatch = !isExempt && name.bits !== 0
    let dropRule = mayMatch ? this.#name(state, start) : undefined
    this.#at = end
    if (this.#peek() !== colon) this.#fail()
    this.#at++
    if (isExempt) {
      this.#pass()
      return undefined
    }
    const next = isRow
      ? this.#field(state, name, kind === 'dataset')
      : this.#states.named(state, name)
    if (isRow) this.#isInScores = name.text === 'scores'
    if (this.#isDropped(next, isRow && name.isTyped)) dropRule = next.whole
    if (dropRule === undefined) this.#partValue(next, depth + 1)
    else this.#skip()
    return dropRule
  }

  #array(state: PathState, depth: number): void {
    let before = -1
    this.#at++
    if (this.#peek() === closeBracket) {
      this.#at++
      return
    }
    for (let index = 0; ; index++) {
      this.#peek()
      const start = this.#at
      const next = this.#states.element(state, index)
      const isDropped = this.#isDropped(next, false)
      if (isDropped) this.#skip()
      else this.#partValue(next, depth + 1)
      const ended = this.#at
      const byte = this.#peek()
      if (byte !== comma && byte !== closeBracket) this.#fail()
      if (isDropped) before = this.#drop(before, start, ended, byte === comma, next.whole!)
      else before = this.#at
      this.#at++
      if (byte === closeBracket) return
    }
  }

  /**
   * Takes out the part of a container from `start` to `end`, behind which the text is.
   *
   * @param before where the comma before it is; -1 while there is no part before it
   * @returns the same for the next part
   */
  #drop(before: number, start: number, end: number, hasNext: boolean, rule: number): number {
    if (before >= 0) {
      this.#edits.add(before, end, '', rule)
      return this.#at
    }
    this.#edits.add(start, hasNext ? this.#at + 1 : end, '', rule)
    return -1
  }

  /** The state of a field of a row, whatever it is called here. */
  #field(state: PathState, { text, group }: MemberName, isOfDataset: boolean): PathState {
    const kept = isOfDataset ? this.#datasetFields : this.#fields
    const known = kept[group]
    if (known) return known
    const stored =
      text === 'inputs' ? 'input' : isOfDataset && text === 'output' ? 'expected' : text
    const { names } = this.#states
    let field = this.#states.named(state, names.named(stored))
    if (text === 'comment') {
      const list = this.#states.named(state, names.named('comments'))
      const comment = this.#states.named(this.#states.element(list, 0), names.named('comment'))
      field = this.#states.either(field, comment)
    }
    kept[group] = field
    return field
  }

  #isDropped(state: PathState, isTyped: boolean): boolean {
    if (state.whole === undefined) return false
    return isTyped || this.#rules[state.whole]!.action.type === 'drop'
  }

  #partValue(state: PathState, depth: number): void {
    if (state.whole === undefined) this.#value(state, depth)
    else this.#whole(state.whole)
  }

  /** All of a value becomes one text. */
  #whole(rule: number): void {
    const byte = this.#peek()
    const start = this.#at
    this.#skip()
    const end = this.#at
    if (byte === 0x6e) return
    if (this.#isInScores) {
      this.#edits.add(start, end, 'null', rule)
      return
    }
    const spelled = decodeUtf8(this.#bytes, start, end)
    const text = byte === quote ? (JSON.parse(spelled) as string) : this.#compact(start, end)
    const isContainer = byte === openBrace || byte === openBracket
    if (byte === quote && whole.test(text)) return
    const masked = this.#masked(rule, text, isContainer)
    if (byte !== quote || masked !== text) this.#edits.add(start, end, JSON.stringify(masked), rule)
  }

  /** The text of a value without the space between its parts, so that equal ones become equal hashes. */
  #compact(start: number, end: number): string {
    const out = new ByteWriter(end - start)
    new JsonScanner(this.#bytes, start, end).value(out)
    return decodeUtf8(out.view())
  }

  /** Masks the name of a member; returns the rule that takes the member out by it. */
  #name(state: PathState, start: number): number | undefined {
    if (state.patterns.length === 0) return undefined
    const edits = this.#edits.length
    this.#at = start
    this.#string(state.patterns, true)
    for (let i = edits; i < this.#edits.length; i++) {
      const rule = this.#edits.ruleAt(i)
      if (this.#rules[rule]!.action.type === 'drop') return rule
    }
    return undefined
  }

  /** @param isName only built-in patterns are looked for in names: others may match what fields are called */
  #string(patterns: readonly number[], isName: boolean): void {
    const { scan } = this.#matches
    const start = this.#at + 1
    const end = scan.string(this.#bytes, start, this.#end)
    if (end < 0) this.#fail()
    this.#at = end + 1
    const { hasEscape, hasSpelled, bits } = scan
    if (!hasSpelled && !this.#matches.mayMatch(patterns, bits)) return
    if (hasEscape) this.#escaped(start, end, patterns, isName)
    else {
      for (const match of this.#matches.find(this.#bytes, start, end, patterns, isName)) {
        const text = this.#bytes.toString('utf8', match.start, match.end)
        this.#edits.add(match.start, match.end, this.#inString(match.rule, text), match.rule)
      }
    }
  }

  #escaped(start: number, end: number, patterns: readonly number[], isName: boolean): void {
    const decoded = this.#decoded
    decoded.read(this.#bytes, start, end)
    this.#matches.scan.text(decoded.bytes, 0, decoded.length)
    if (!this.#matches.mayMatch(patterns, this.#matches.scan.bits)) return
    const { bytes, places, length } = decoded
    for (const match of this.#matches.find(bytes, 0, length, patterns, isName)) {
      const text = bytes.toString('utf8', match.start, match.end)
      const masked = this.#inString(match.rule, text)
      this.#edits.add(places[match.start]!, places[match.end]!, masked, match.rule)
    }
  }

  #scalar(state: PathState): void {
    const start = this.#at
    this.#passScalar()
    if (this.#cardRules.size === 0 || this.#at - start < 13) return
    for (let at = start; at < this.#at; at++) if (!isDigit(this.#bytes[at]!)) return
    const rule = state.patterns.find((one) => this.#cardRules.has(one))
    const text = decodeUtf8(this.#bytes, start, this.#at)
    if (rule === undefined || !isCardNumber(text)) return
    const masked = this.#isInScores ? 'null' : JSON.stringify(this.#masked(rule, text))
    this.#edits.add(start, this.#at, masked, rule)
  }

  /** Values repeat, such as ids of users. */
  #hash(text: string): string {
    const known = this.#hashes.get(text)
    if (known !== undefined) return known
    const digest = createHmac('sha256', this.#key).update(text).digest('hex')
    const hash = `hash:${digest.slice(0, 32)}`
    if (text.length <= longestKept) {
      if (this.#hashes.size >= mostKept) this.#hashes.clear()
      this.#hashes.set(text, hash)
    }
    return hash
  }

  /** Where the JSON string ends that begins at `start`. */
  #stringEnd(start: number): number {
    const bytes = this.#bytes
    const end = this.#end
    for (let at = start + 1; at < end; at++) {
      const byte = bytes[at]!
      if (byte === quote) return at + 1
      if (byte === backslash) at++
    }
    this.#at = start
    return this.#fail()
  }

  #inString(rule: number, text: string): string {
    return JSON.stringify(this.#masked(rule, text)).slice(1, -1)
  }

  #masked(rule: number, text: string, isContainer = false): string {
    const { action } = this.#rules[rule]!
    switch (action.type) {
      case 'drop':
        return ''
      case 'hash':
        return this.#hash(text)
      case 'replace':
        return replacementOf(this.#rules[rule]!)
      case 'keep_last_four':
        return isContainer ? '****' : `****${lastFour(text)}`
    }
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function endsScalar(byte: number): boolean {
  return byte <= 0x20 || byte === comma || byte === closeBrace || byte === closeBracket
}

/** Nothing of a text of which four characters are half. */
function lastFour(text: string): string {
  const characters = Array.from(text.slice(-16))
  return characters.length < 8 ? '' : characters.slice(-4).join('')
}
