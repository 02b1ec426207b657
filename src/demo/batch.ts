/** Turns records into JSON bytes, many records at a time, for whoever sends or loads them. */

export interface Batch {
  readonly rowCount: number
  readonly bytes: Buffer
}

export interface BatchOptions {
  readonly rowsPerBatch: number
  /**
   * `lines`: one record a line, each line ended. `events`: the body of an insert into one object.
   * `rows`: the body of a `/logs3` request, whose records must name their objects.
   */
  readonly form: 'lines' | 'events' | 'rows'
}

const frames = {
  lines: { before: '', between: '\n', after: '\n' },
  events: { before: '{"events":[', between: ',', after: ']}' },
  rows: { before: '{"rows":[', between: ',', after: ']}' },
} as const

/** Yields the records in batches of `rowsPerBatch`; the last one may be smaller, none is empty. */
export function* encodeBatches(
  records: Iterable<object>,
  { rowsPerBatch, form }: BatchOptions,
): Generator<Batch, void> {
  const frame = frames[form]
  let text = frame.before
  let rowCount = 0
  for (const record of records) {
    if (rowCount > 0) text += frame.between
    text += JSON.stringify(record)
    rowCount++
    if (rowCount === rowsPerBatch) {
      yield { rowCount, bytes: Buffer.from(text + frame.after) }
      text = frame.before
      rowCount = 0
    }
  }
  if (rowCount > 0) yield { rowCount, bytes: Buffer.from(text + frame.after) }
}
