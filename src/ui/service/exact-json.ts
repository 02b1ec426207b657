import { ExactNumber, isJsonObject, mayHaveExactNumbers } from '../../json/exact-number.ts'

/** A text, in which nothing is looked for, or a number. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The name of the one member of an object that stands for a number; nobody else knows it. */
const place = `number ${Math.random()}`

/** JSON whose numbers are shown as they were written; those that a double prints so are numbers. */
export function parseExactly(text: string): unknown {
  if (!mayHaveExactNumbers(text)) return JSON.parse(text)
  const marked = text.replace(token, (found) => {
    const isUsual = found.startsWith('"') || String(Number(found)) === found
    return isUsual ? found : `{"${place}":"${found}"}`
  })
  return JSON.parse(marked, (_, value: unknown) => {
    const written = isJsonObject(value) && Object.hasOwn(value, place) ? value[place] : undefined
    return typeof written === 'string' ? new ExactNumber(written) : value
  })
}

/** Fields whose numbers are calculated with. */
const measuredFields = ['scores', 'metrics'] as const

/** The same for an answer or a message with rows of a query. */
export function parseRows(text: string): unknown {
  const answer = parseExactly(text)
  if (!isJsonObject(answer)) return answer
  const { data, rows } = answer
  return {
    ...answer,
    ...(Array.isArray(data) && { data: data.map(withMeasures) }),
    ...(Array.isArray(rows) && { rows: rows.map(withMeasures) }),
  }
}

function withMeasures(row: unknown): unknown {
  if (!isJsonObject(row)) return row
  let measured = row
  for (const field of measuredFields) {
    const given = Object.hasOwn(row, field) ? row[field] : undefined
    if (!isJsonObject(given)) continue
    const entries = Object.entries(given)
    if (!entries.some(([, value]) => value instanceof ExactNumber)) continue
    const numbers = entries.map(([name, value]) => [
      name,
      value instanceof ExactNumber ? Number(value.text) : value,
    ])
    measured = { ...measured, [field]: Object.fromEntries(numbers) }
  }
  return measured
}
