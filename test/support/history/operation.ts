/** What clients did to a service, each operation with the times at which it began and ended. */

export type Fields = { readonly [name: string]: number }

/** What a request asks of one record. */
export interface Change {
  readonly object: string
  readonly id: string
  readonly action: 'set' | 'merge' | 'delete'
  readonly fields: Fields
}

/**
 * One request, whose changes are of different records. Its number is in every record that it writes; the
 * first change is no deletion, so that it leaves a trace wherever it took place.
 */
export interface Write {
  readonly client: number
  readonly begin: number
  readonly end: number
  readonly number: number
  readonly changes: readonly Change[]
  /** A transaction, or what became of the request otherwise: a lost connection tells nothing. */
  readonly outcome: { readonly transaction: string } | 'refused' | 'unknown'
}

/** Rows newest first, or how many there are and what they sum up to by `metadata.kind`. */
export type Question =
  | {
      readonly kind: 'rows'
      readonly id?: string
      /** Of `metadata.size`. */
      readonly least?: number
      /** Only what comes after the row with this pagination key. */
      readonly after?: string
      readonly limit?: number
    }
  | { readonly kind: 'groups' }

export interface Row {
  readonly object: string
  readonly id: string
  readonly transaction: string
  readonly paginationKey: string
  readonly write: number
  readonly metadata: Fields
}

export interface Group {
  readonly kind: number | null
  readonly count: number
  readonly sum: number | null
}

export interface Read {
  readonly client: number
  readonly begin: number
  readonly end: number
  readonly objects: readonly string[]
  readonly question: Question
  /** Undefined asks for what there is now. */
  readonly version?: string
  readonly answer: readonly Row[] | readonly Group[]
}

/** What a live query told between one `current` and the next. */
export interface Round {
  /** When its `current` came. */
  readonly end: number
  readonly transaction: string
  /** Whether the rows are all of the answer. */
  readonly isWhole: boolean
  readonly answer: readonly Row[] | readonly Group[]
  readonly removed: readonly { readonly object: string; readonly id: string }[]
}

export interface Stream {
  readonly objects: readonly string[]
  readonly question: Question
  readonly rounds: readonly Round[]
}

/** A version of a record, as the history of its object tells in the end. */
export interface Trace {
  readonly object: string
  readonly id: string
  readonly transaction: string
  /** Undefined for a deletion. */
  readonly write: number | undefined
}

export interface History {
  readonly writes: readonly Write[]
  readonly reads: readonly Read[]
  readonly streams: readonly Stream[]
  readonly traces: readonly Trace[]
}
