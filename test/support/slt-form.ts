import { parseRequest } from '../../src/parser/parse-request.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { printSqlQuery } from '../../src/parser/print-sql.ts'

export interface QueryForm {
  readonly name: string
  readonly text: string
}

/** A query as each surface of the language has it, made from its tree. */
export function formsOf(text: string, from: string | undefined): QueryForm[] {
  const query = parseRequest(text, from)
  return [
    { name: 'clauses', text: printQuery(query) },
    { name: 'SQL', text: printSqlQuery(query) },
  ]
}
