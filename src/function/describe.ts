/** The tables of functions as the language page shows them. */
import type { Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import { aggregateFunctions, exampleRows } from './aggregate.ts'
import { functionGroups, type ScalarFunction } from './scalar.ts'

/** All functions and aggregates, in Markdown. */
export function describeFunctions(): string {
  const groups = functionGroups.flatMap(({ title, functions }) => [
    `### ${title}`,
    table(
      ['Function', 'Result', 'Null', 'What it gives', 'Example'],
      functions.map((entry) => [
        calls(entry),
        entry.result === 'argument' ? 'as arguments' : entry.result,
        nullBehaviour(entry),
        withAliases(entry),
        example(entry.example),
      ]),
    ),
  ])
  return [
    'Null: what a call gives when an argument is null; “handled” where the description says more.',
    ...groups,
    '### Aggregates',
    'Examples are over these rows:',
    rowsTable(),
    table(
      ['Aggregate', 'Result', 'DISTINCT', 'What it gives', 'Example'],
      aggregateFunctions.map((entry) => [
        calls(entry),
        entry.result === 'argument' ? 'as argument' : entry.result,
        entry.distinct ? 'yes' : 'no',
        withAliases(entry),
        example(entry.example),
      ]),
    ),
  ].join('\n\n')
}

interface Named {
  readonly name: string
  readonly aliases: readonly string[]
  readonly signature: string
  readonly description: string
}

function calls({ name, signature }: Named): string {
  return code(`${name}(${signature})`)
}

function withAliases({ description, aliases }: Named): string {
  if (aliases.length === 0) return description
  return `${description}. Also ${aliases.map(code).join(', ')}`
}

function nullBehaviour({ nulls, maxArguments }: ScalarFunction): string {
  if (maxArguments === 0) return ''
  return nulls === 'propagate' ? 'null' : 'handled'
}

function example([call, result]: readonly [call: string, result: string]): string {
  return `${code(call)} → ${code(result)}`
}

function rowsTable(): string {
  const fields = Object.keys(exampleRows[0]!)
  const cell = (value: Value | undefined) => code(writeJson(value ?? null))
  return table(
    fields.map(code),
    exampleRows.map((row) => fields.map((field) => cell(row[field]))),
  )
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |`
  return [line(header), `|${' --- |'.repeat(header.length)}`, ...rows.map(line)].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}

/** A bar ends a cell, even within code. */
function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|')
}
