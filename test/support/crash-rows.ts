/**
 * The rows of one request of the crash test; now and then they are many. All but the last are new records of their own; the last
 * merges the request's number into a record that all requests share.
 */
export function crashRows(run: string, number: number): Record<string, unknown>[] {
  const object = { project_id: 'P', log_id: 'g' }
  const length = number % 16 === 7 ? 300 : 1 + (number % 9)
  const rows: Record<string, unknown>[] = Array.from({ length }, (_, i) => ({
    ...object,
    id: recordId(run, number, i),
    input: `${run} ${number} ${i} ${'x'.repeat((number * 37 + i * 101) % 3000)}`,
    metadata: { run, number, i },
  }))
  rows.push({ ...object, id: 'shared', _is_merge: true, metadata: { [`${run}.${number}`]: true } })
  return rows
}

export function recordId(run: string, number: number, i: number): string {
  return `${run}-${number}-${i}`
}
