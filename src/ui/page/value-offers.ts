/** By which conditions a value that is shown can be filtered. */
import { excluded, literal, pathText, type Scalar } from '../service/filter-terms.ts'
import { at, type Row } from '../service/query.ts'
import { memberOf, sortExpression } from './log-columns.tsx'
import type { LogView } from './log-view.ts'
import type { ValueOffer } from './value-filters.tsx'

/** Longer ones are cut in tables, and are no values that others have, too. */
const longestText = 200

type RowsAre = LogView['rowsAre']

/** Only rows of the value, and all but those. */
export function offersOf(field: string, value: unknown, rowsAre: RowsAre): readonly ValueOffer[] {
  if (!isScalar(value)) return []
  const only = `${field} = ${literal(value)}`
  return [
    { sign: '+', title: `Only ${only}`, term: only },
    { sign: '−', title: `Without ${only}`, term: excluded(field, value, rowsAre) },
  ]
}

function offersOfTag(tag: string, rowsAre: RowsAre): readonly ValueOffer[] {
  const only = `tags includes ${literal(tag)}`
  const none = rowsAre === 'traces' ? `not any_span(${only})` : `not (${only})`
  return [
    { sign: '+', title: `Only ${only}`, term: only },
    { sign: '−', title: `Without ${only}`, term: none },
  ]
}

/** Of what is measured, nobody looks for the very number: what is at least as much, and what is less. */
function offersOfNumber(field: string, value: unknown): readonly ValueOffer[] {
  if (typeof value !== 'number' || !Number.isFinite(value)) return []
  const [most, less] = [`${field} >= ${value}`, `${field} < ${value}`]
  return [
    { sign: '≥', title: `Only ${most}`, term: most },
    { sign: '<', title: `Only ${less}`, term: less },
  ]
}

/** Of a cell of the logs. */
export function offersOfCell(row: Row, column: string, target: Element, rowsAre: RowsAre) {
  const tag = target.closest('.tag')?.textContent
  if (column === 'tags') return tag ? offersOfTag(tag, rowsAre) : []
  const member = memberOf(column)
  const by = sortExpression(column, rowsAre)
  if (member?.root === 'scores') return offersOfNumber(by ?? '', at(row, 'scores', member.name))
  if (member) return offersOf(by ?? '', row[column] ?? at(row, 'metadata', member.name), rowsAre)
  switch (column) {
    case 'name':
    case 'type':
      return offersOf(by ?? '', at(row, 'span_attributes', column), rowsAre)
    case 'error':
    case 'input':
    case 'output':
    case 'expected':
      return offersOf(column, row[column], rowsAre)
    case 'tokens':
    case 'cost':
    case 'llm_calls':
    case 'errors':
      return offersOfNumber(by ?? '', at(row, ...(by ?? '').split('.')))
    case 'duration': {
      const [start, end] = [at(row, 'metrics', 'start'), at(row, 'metrics', 'end')]
      const isKnown = typeof start === 'number' && typeof end === 'number'
      return isKnown ? offersOfNumber(by ?? '', Math.round((end - start) * 1e6) / 1e6) : []
    }
    default:
      return []
  }
}

/** Of a value in an open span: what tells its place stands at the elements around it. */
export function offersOfValue(target: Element, rowsAre: RowsAre) {
  const place = target.closest('[data-value]')
  const field = place?.closest('[data-field]')?.getAttribute('data-field')
  if (!place || !field) return undefined
  const steps: string[] = []
  for (let each: Element | null = place; each && !each.hasAttribute('data-field'); ) {
    if (each.hasAttribute('data-list')) return undefined
    const step = each.getAttribute('data-step')
    if (step !== null) steps.unshift(step)
    each = each.parentElement
  }
  const value: unknown = JSON.parse(place.getAttribute('data-value') ?? 'null')
  const path = pathText([...field.split('.'), ...steps])
  return { place, offers: offersOf(path, value, rowsAre) }
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value !== '' && value.length < longestText
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'boolean'
}
