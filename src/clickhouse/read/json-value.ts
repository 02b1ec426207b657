/** Values within JSON that a column has as a text. */
import type { Path } from '../../type/value.ts'
import { escapedName } from '../shred-fields.ts'
import { disjunction, negation } from './bounds.ts'
import type { CompiledValue } from './compiled-value.ts'
import { textLiteral } from './sql-text.ts'

/** What JSON has at a path of names; nothing there is null. Arrays and objects are hidden. */
export function jsonValue(json: string, path: Path): CompiledValue | undefined {
  const at = jsonAt(json, path)
  if (at === undefined) return undefined
  const begins = (letters: string) => `match(${at}, '^[${letters}]')`
  const number = `JSONExtract(${at}, 'Nullable(Float64)')`
  return {
    typed: {
      boolean: `if(${begins('tf')}, ${at} = 'true', NULL)`,
      number: `if(${begins('-0-9')}, ${number}, NULL)`,
      string: `if(${begins('"')}, JSONExtractString(${at}), NULL)`,
    },
    isHidden: begins('{\\\\['),
    hidden: ['array', 'object'],
    isNull: disjunction([`empty(${at})`, `(${at} = 'null')`]),
    doubts: [negation(disjunction([negation(begins('-0-9')), `isNotNull(${number})`]))],
  }
}

/** The JSON at a path of names; empty where there is nothing. */
export function jsonAt(json: string, path: Path): string | undefined {
  const names = path.map((part) => (isPlainName(part) ? textLiteral(part) : undefined))
  if (names.includes(undefined)) return undefined
  return names.length === 0 ? json : `JSONExtractRaw(${[json, ...names].join(', ')})`
}

/** Others are written in another way within objects. */
function isPlainName(part: Path[number]): part is string {
  return typeof part === 'string' && escapedName(part) === part
}
