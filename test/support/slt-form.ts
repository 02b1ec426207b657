import { type GivenQuery, JsonQuery, textOfQuery } from '../../src/parser/given-query.ts'
import { parseRequest } from '../../src/parser/parse-request.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { printSqlQuery } from '../../src/parser/print-sql.ts'
import { hasJsonForm, jsonForm } from './json-form.ts'

export interface QueryForm {
  readonly name: string
  readonly query: GivenQuery
  readonly text: string
}

/** A query as each surface of the language has it, made from its tree. */
export function formsOf(text: string, from: string | undefined): QueryForm[] {
  const query = parseRequest(text, from)
  const forms = [formOf('clauses', printQuery(query)), formOf('SQL', printSqlQuery(query))]
  return hasJsonForm(query) ? [...forms, formOf('JSON', new JsonQuery(jsonForm(query)))] : forms
}

function formOf(name: string, query: GivenQuery): QueryForm {
  return { name, query, text: textOfQuery(query) }
}
