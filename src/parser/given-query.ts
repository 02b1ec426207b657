/** A query as it was given: as text, or as an object. */
import { AssayError } from '../error.ts'
import type { Query } from './ast.ts'
import { printQuery } from './print-query.ts'
import { readJsonQuery } from './read-json-query.ts'
import { maximumTextBytes } from './token-stream.ts'

export type GivenQuery = string | JsonQuery

export interface JsonQueryOptions {
  /** Where it is in its request; `query` if not said. */
  readonly path?: string
  /** Of the request: the query has no more. */
  readonly bytes?: number
}

/** An object. It is read when its tree is asked for, and has a text for those who show it. */
export class JsonQuery {
  /** As `type/exact-json.ts` gives it. */
  readonly value: unknown
  readonly #options: JsonQueryOptions
  #tree: Query | undefined
  #text: string | undefined

  constructor(value: unknown, options: JsonQueryOptions = {}) {
    this.value = value
    this.#options = options
  }

  /** Throws what is wrong with the form of the object. */
  get tree(): Query {
    this.#tree ??= this.#read()
    return this.#tree
  }

  /** Canonical. Throws as `tree`. */
  get text(): string {
    this.#text ??= printQuery(this.tree)
    return this.#text
  }

  toJSON(): string {
    return this.text
  }

  #read(): Query {
    const { bytes = 0, path = 'query' } = this.#options
    const tree = readJsonQuery(this.value, path)
    // As text, a quote within a string is two.
    if (bytes * 2 <= maximumTextBytes) return tree
    if (Buffer.byteLength(printQuery(tree)) <= maximumTextBytes) return tree
    throw new AssayError(
      'PARSE_TOO_LONG',
      `the query is too long: as text it may have ${maximumTextBytes} bytes`,
      {
        path,
        hint: 'select by a condition in place of a list of values',
      },
    )
  }
}

/** The text of a query, for those who show it. */
export function textOfQuery(query: GivenQuery): string {
  return typeof query === 'string' ? query : query.text
}

/** The text into which faults of the query point; of an object they tell the place themselves. */
export function faultText(query: GivenQuery): string | undefined {
  return typeof query === 'string' ? query : undefined
}
