/** Random texts that are near to queries: some are queries, most have a fault or several. */
import { fragments } from './fuzz-corpus.ts'

/** Longer texts have limits of their own; see `limit.test.ts`. */
const maximumLength = 65_536

const names = ['a', 'metadata.model', 'scores."a b"', 'tags[0]', '"x"."y"', 'input', '`from`', 'id']
const literals = ['1', '-2.5', '50%', 'null', 'true', "'x'", '"y"', '[]', '{}', 'interval 3 day']
const comparisons = ['=', '!=', '<', '>=', '<=>', '<!=>', '~', '!~*', 'like', 'not ilike', 'match']
const arithmetic = ['+', '-', '*', '/', '%', 'add', 'mod']
const functions = ['count', 'avg', 'any_span', 'lower', 'match', 'coalesce', 'now', 'date_trunc']
const openings = ['(', '[', '{a: ', 'not ', '- ', 'f(', 'a in (', 'a ? ', 'case when ', 'cast(']
const chains = ['a and ', 'a or ', 'a + ', 'a ? b : ', '(a).b::int->', 'a.', 'a[0]', '-- \n', "''"]

/** A stream of texts that depends on nothing but the seed and the corpus. */
export class FuzzTexts {
  #state: number
  readonly #corpus: readonly string[]

  constructor(seed: number, corpus: readonly string[]) {
    this.#state = seed | 0
    this.#corpus = corpus
  }

  next(): string {
    const kind = this.#below(200)
    let text: string
    if (kind < 40) text = this.#query()
    else if (kind < 60) text = this.#expression(4)
    else if (kind < 80) text = this.#soup()
    else if (kind < 81) text = this.#deep()
    else text = this.#mutated()
    return text.slice(0, maximumLength)
  }

  /** A whole number from 0 to less than `limit`, by the mulberry32 generator. */
  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)]!
  }

  #list(separator: string, item: () => string): string {
    return Array.from({ length: 1 + this.#below(3) }, item).join(separator)
  }

  #mutated(): string {
    let text = this.#below(4) === 0 ? this.#query() : this.#pick(this.#corpus)
    for (let times = 1 + this.#below(6); times > 0; times--) text = this.#mutate(text)
    return text
  }

  #mutate(text: string): string {
    const start = this.#below(text.length + 1)
    const end = Math.min(text.length, start + this.#below(12))
    const before = text.slice(0, start)
    const after = text.slice(end)
    switch (this.#below(9)) {
      case 0:
        return before + after
      case 1:
        return before + this.#pick(fragments) + text.slice(start)
      case 2:
        return before + this.#pick(fragments) + after
      case 3:
        return before
      case 4: {
        const other = this.#pick(this.#corpus)
        return before + other.slice(this.#below(other.length + 1))
      }
      case 5:
        return before + text.slice(start, end).repeat(this.#below(200) === 0 ? 1000 : 3) + after
      case 6:
        return before + String.fromCharCode(this.#below(0x3000)) + after
      case 7:
        return before + text.slice(start, end).toUpperCase() + after
      default:
        return `${before}(${text.slice(start, end)})${after}`
    }
  }

  #soup(): string {
    const between = this.#pick(['', ' ', '\n'])
    return Array.from({ length: 1 + this.#below(30) }, () => this.#pick(fragments)).join(between)
  }

  #deep(): string {
    const times = this.#below(2000)
    if (this.#below(2) === 0) return `${this.#pick(chains).repeat(times)}a`
    return `${this.#pick(openings).repeat(times)}a${this.#pick([')', ']', '}', '']).repeat(times)}`
  }

  #expression(depth: number): string {
    if (depth === 0) return this.#pick(this.#below(2) === 0 ? names : literals)
    const inner = (): string => this.#expression(this.#below(depth))
    switch (this.#below(16)) {
      case 0:
        return `${inner()} ${this.#pick(comparisons)} ${inner()}`
      case 1:
        return `${inner()} ${this.#pick(arithmetic)} ${inner()}`
      case 2:
        return this.#list(this.#pick([' and ', ' or ']), inner)
      case 3:
        return `(${inner()})`
      case 4:
        return `not ${inner()}`
      case 5:
        return `${this.#pick(functions)}(${this.#pick(['', 'distinct '])}${this.#list(', ', inner)})`
      case 6:
        return `${inner()} ? ${inner()} : ${inner()}`
      case 7:
        return `case ${this.#pick(['', inner()])} when ${inner()} then ${inner()} else ${inner()} end`
      case 8:
        return `${inner()} in (${this.#list(', ', inner)})`
      case 9:
        return `${inner()} between ${inner()} and ${inner()}`
      case 10:
        return `(${inner()})${this.#pick(['.b', '[0]', "->'k'", '->>0', '::int', '::text.c'])}`
      case 11:
        return `${inner()} is ${this.#pick(['null', 'not null', 'true', 'not false'])}`
      case 12:
        return `${this.#pick(functions)}(${inner()}) filter (where ${inner()})`
      case 13:
        return `match(${this.#list(', ', inner)}) against (${inner()})`
      case 14:
        return `{k: ${inner()}, "l": [${this.#list(', ', inner)}]}`
      default:
        return inner()
    }
  }

  #query(): string {
    return this.#below(2) === 0 ? this.#clauses(2) : this.#sql(2)
  }

  #clauses(depth: number): string {
    const expression = (): string => this.#expression(2)
    const named = (): string => `${expression()} as ${this.#pick(['x', 'y', '"z w"', 'limit'])}`
    const list = (): string => this.#list(', ', this.#pick([expression, named]))
    const clauses = [
      this.#pick([`select: ${list()}`, `dimensions: ${list()}`, `measures: ${list()}`, 'infer: *']),
      `from: ${this.#source(depth, () => this.#clauses(depth - 1))}`,
      `${this.#pick(['filter', 'final_filter', 'span_filter', 'comparison_key'])}: ${expression()}`,
      `sort: ${expression()} desc`,
      `limit: ${this.#below(100)}`,
      `cursor: 'c'`,
      `sample: ${this.#below(120)}%`,
      `unpivot: ${expression()} as (k, v)`,
      `pivot: ${named()} for ${expression()}`,
      `weighted_scores: ${named()}`,
      `preview_length: ${this.#below(9) - 1}`,
    ]
    const chosen = clauses.filter((_, i) => this.#below(i < 2 ? 12 : 3) !== 0 || i < 1)
    return chosen.slice(0, 2 + this.#below(7)).join(this.#pick(['\n', ' | ', '\n| ']))
  }

  #sql(depth: number): string {
    const expression = (): string => this.#expression(2)
    const parts = [
      ` where ${expression()}`,
      ` group by ${this.#list(', ', expression)}`,
      ` having ${expression()}`,
      ` order by ${expression()} desc`,
      ` limit ${this.#below(100)}`,
      ` offset 'c'`,
      ' settings preview_length = -1',
    ]
    const source = this.#source(depth, () => this.#sql(depth - 1))
    const columns = this.#list(', ', this.#pick([expression, () => `${expression()} as x`]))
    return [
      `select ${this.#pick(['', 'distinct '])}${this.#pick(['*', columns])} from ${source}`,
      ...parts.filter(() => this.#below(3) === 0),
    ].join('')
  }

  #source(depth: number, query: () => string): string {
    if (depth > 0 && this.#below(5) === 0) return `(${query()})`
    return `experiment('e'${this.#pick(['', ", 'f'", ", shape => 'traces'"])})`
  }
}
