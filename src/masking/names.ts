/** Names of members, read once each: those of records repeat. */
import { copyOf } from '../json/copy-bytes.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { exemptFields, foldedName, typedFields } from './rule.ts'

const quote = 0x22
const backslash = 0x5c
const mostKept = 4096

/** A name as the rules of a masker see it. */
export interface MemberName {
  readonly text: string
  /** Names that all rules take alike have the same. */
  readonly group: number
  /** What shows that patterns may match in it. */
  readonly bits: number
  /** As a field of a row: see `exemptFields` and `typedFields`. */
  readonly isExempt: boolean
  readonly isTyped: boolean
}

interface KeptName extends MemberName {
  readonly bytes: Uint8Array
  /** What came after it, and what did before that. */
  next: KeptName | undefined
  other: KeptName | undefined
}

export class Names {
  readonly #exact: ReadonlySet<string>
  readonly #folded: ReadonlySet<string>
  readonly #groups = new Map<string, number>()
  readonly #kept = new Map<number, KeptName>()
  #last: KeptName | undefined

  /** @param exact names that paths have, and `folded` those that are looked for anywhere */
  constructor(exact: ReadonlySet<string>, folded: ReadonlySet<string>) {
    this.#exact = exact
    this.#folded = folded
  }

  /** Tells the bits of names. */
  bitsOf: (text: Uint8Array) => number = () => 0

  /**
   * A name that came after the last one before, if it is there again: its JSON text, without its quotes, begins at
   * `start`. Members mostly come in the same order, or one of them is left out.
   */
  again(bytes: Uint8Array, start: number): KeptName | undefined {
    const { next, other } = this.#last ?? noName
    const guess = isAt(next, bytes, start) ? next : isAt(other, bytes, start) ? other : undefined
    if (guess) this.#last = guess
    return guess
  }

  /** The name whose JSON text, without its quotes, is from `start` to `end`. */
  read(bytes: Uint8Array, start: number, end: number): MemberName {
    const name = this.#read(bytes, start, end)
    if (this.#last) follow(this.#last, name)
    this.#last = name
    return name
  }

  #read(bytes: Uint8Array, start: number, end: number): KeptName {
    let hash = end - start
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 0x01000193) ^ bytes[at]!) | 0
    const kept = this.#kept.get(hash)
    if (kept && isSame(kept.bytes, bytes, start, end)) return kept
    const name: KeptName = {
      ...this.named(nameOf(bytes, start, end)),
      bytes: copyOf(bytes, start, end),
      next: undefined,
      other: undefined,
    }
    if (this.#kept.size >= mostKept) this.#forget()
    this.#kept.set(hash, name)
    return name
  }

  #forget(): void {
    this.#kept.clear()
    this.#last = undefined
  }

  named(text: string): MemberName {
    const folded = foldedName(text)
    const key = JSON.stringify([
      this.#exact.has(text) ? text : null,
      this.#folded.has(folded) ? folded : null,
    ])
    const group = this.#groups.get(key) ?? this.#groups.size
    this.#groups.set(key, group)
    const bits = this.bitsOf(Buffer.from(text))
    return { text, group, bits, isExempt: exemptFields.has(text), isTyped: typedFields.has(text) }
  }
}

const noName: Pick<KeptName, 'next' | 'other'> = { next: undefined, other: undefined }

function follow(last: KeptName, name: KeptName): void {
  last.other = last.next
  last.next = name
}

/** Whether the name, and the quote behind it, stand at `start`. */
function isAt(name: KeptName | undefined, bytes: Uint8Array, start: number): boolean {
  if (!name) return false
  const { bytes: text } = name
  const { length } = text
  for (let i = 0; i < length; i++) if (text[i] !== bytes[start + i]) return false
  return bytes[start + length] === quote
}

function isSame(name: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let i = 0; i < name.length; i++) if (name[i] !== bytes[start + i]) return false
  return true
}

function nameOf(bytes: Uint8Array, start: number, end: number): string {
  const text = decodeUtf8(bytes, start, end)
  for (let at = start; at < end; at++) {
    if (bytes[at] === backslash) return JSON.parse(`"${text}"`) as string
  }
  return text
}
