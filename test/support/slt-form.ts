import { parseRequest } from '../../src/parser/parse-request.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { printSqlQuery } from '../../src/parser/print-sql.ts'
import { readJsonQuery } from '../../src/parser/read-json-query.ts'
import { hasJsonForm, jsonForm } from './json-form.ts'

export interface QueryForm {
  readonly name: string
  readonly text: string
}

/** A query as each surface of the language has it, made from its tree. */
export function formsOf(text: string, from: string | undefined): QueryForm[] {
  const query = parseRequest(text, from)
  const forms = [
    { name: 'clauses', text: printQuery(query) },
    { name: 'SQL', text: printSqlQuery(query) },
  ]
  if (!hasJsonForm(query)) return forms
  return [...forms, { name: 'JSON', text: printQuery(readJsonQuery(jsonForm(query))) }]
}
