/** How a CSV file separates its cells and lines, as its beginning tells. */
import { type CsvForm, type LineEnd, readCsvLine } from './csv-line.ts'

/** Of which the first is taken where nothing tells. */
const delimiters = [',', ';', '\t', '|'] as const

/** Records that are looked at. */
const lookedAt = 100

/**
 * The delimiter that cuts most of the records into as many cells as the first line has names, and that into the most.
 *
 * @param bytes the beginning of the file
 * @param isWhole whether that is all of it
 * @param given the delimiter, where it is known
 */
export function findCsvForm(bytes: Uint8Array, isWhole: boolean, given?: string): CsvForm {
  const lineEnd = findLineEnd(bytes)
  if (given !== undefined) return { delimiter: given.charCodeAt(0), lineEnd }
  let best = { delimiter: delimiters[0].charCodeAt(0), alike: 0, names: 1 }
  for (const each of delimiters) {
    const delimiter = each.charCodeAt(0)
    const { names, alike } = tryForm(bytes, isWhole, { delimiter, lineEnd })
    const isBetter = alike > best.alike || (alike === best.alike && names > best.names)
    if (names > 1 && isBetter) best = { delimiter, alike, names }
  }
  return { delimiter: best.delimiter, lineEnd }
}

/** Names of the first line, and the share of the records that have as many cells. */
function tryForm(bytes: Uint8Array, isWhole: boolean, form: CsvForm) {
  let names = 0
  let records = 0
  let alike = 0
  let at = 0
  while (at < bytes.length && records < lookedAt) {
    const line = readCsvLine(bytes, at, isWhole, form)
    if (line === 'more') break
    if ('fault' in line) {
      if (names === 0) break
      records++
      const next = bytes.indexOf(form.lineEnd, at) + 1
      if (next === 0) break
      at = next
      continue
    }
    at = line.next
    const { cells } = line
    const isBlank = cells.every(({ start, end }) => start === end)
    if (isBlank) continue
    if (names === 0) names = cells.length
    else {
      records++
      if (cells.length === names) alike++
    }
  }
  return { names, alike: records === 0 ? 1 : alike / records }
}

function findLineEnd(bytes: Uint8Array): LineEnd {
  let isInQuotes = false
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x22) isInQuotes = !isInQuotes
    if (isInQuotes) continue
    if (bytes[at] === 0x0a) return 0x0a
    if (bytes[at] === 0x0d) return bytes[at + 1] === 0x0a || at + 1 === bytes.length ? 0x0a : 0x0d
  }
  return 0x0a
}
