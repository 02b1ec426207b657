/** The answers in the golden files are those of the oracle too: neither can be wrong alone. */
import { describe, expect, it } from 'vitest'
import { toAssayError } from '../../src/error.ts'
import type { TableSource } from '../../src/parser/ast.ts'
import { renderError } from '../../src/parser/error-location.ts'
import { parseQuery } from '../../src/parser/parse.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { recordColumns } from '../../src/type/record.ts'
import { type GoldenFile, isExpected, readGoldenFiles } from '../support/golden-file.ts'
import type { OracleRow } from '../support/oracle-row.ts'
import type { OracleTable } from '../support/oracle-source.ts'
import { json, type Plain } from '../support/oracle-value.ts'
import { answer, type OracleColumn } from '../support/row-oracle.ts'
import { argumentsOf, type Block } from '../support/slt.ts'
import { completeRow, parseHeader, printHeader, printRow } from '../support/slt-row.ts'

/** What the oracle knows nothing of: how rows replace each other, versions, ids given by the server, lists of numbers beyond doubles. */
const beyondOracle =
  /"_(is_merge|object_delete|array_delete)"|control (version|from)|^reopen|\[1e400]/m

/** Queries that depend on more than records: on ids, on chance, on names in a catalog, on prices. */
const unknowable = [
  /_xact_id|select:?\s+\*|any_value|cursor:|<slt:|(project|experiment|dataset|prompt_session)_id/i,
  /sample|random\(|hash_fraction|infer:|rollup|cube|grouping/i,
  /by-name|(prompts?|functions?|view|project_dataset|prompt_session)\(|estimated_cost/,
  /from:? project(_logs)?\((\)|shape)/i,
]

interface StoredRow extends OracleRow {
  readonly type: string
}

class OracleRun {
  readonly #rows: StoredRow[] = []
  #numbered = 0
  #tzOffset = 0
  #now: number | undefined

  run(block: Block): void {
    if (block.kind === 'insert') this.#insert(block)
    if (block.kind === 'commands') {
      const commands = block.header.join('\n')
      const offset = /^control tz_offset (.+)$/m.exec(commands)?.[1]
      if (offset !== undefined) this.#tzOffset = Number(offset === 'none' ? 0 : offset)
      const now = /^control now (.+)$/m.exec(commands)?.[1]
      if (now !== undefined) this.#now = now === 'none' ? undefined : Date.parse(now)
    }
    if (block.kind === 'query') this.#query(block)
    if (block.kind === 'error') refuse(block)
  }

  #insert(block: Block): void {
    if (block.expected) return
    const [type, object] = argumentsOf(block)
    for (const line of block.body) {
      const given = parseJson(completeRow(line, () => ++this.#numbered)) as Record<string, Plain>
      const columns = recordColumns.filter((column) => column.in.some((name) => name === type))
      const paginationKey = `p${String(this.#rows.length).padStart(20, '0')}`
      const nulls = Object.fromEntries(columns.map(({ name }) => [name, null]))
      const value = { ...nulls, ...given, ...derived(type!, given), _pagination_key: paginationKey }
      const known = this.#rows.find(
        ({ value, object: of }) => value.id === given.id && of === object,
      )
      if (known) this.#rows[this.#rows.indexOf(known)] = { ...known, value }
      else this.#rows.push({ object: object!, type: type!, value, paginationKey })
    }
  }

  #query(block: Block): void {
    const text = block.body.join('\n')
    if (unknowable.some((pattern) => pattern.test(text) || pattern.test(answerOf(block)))) return
    if (argumentsOf(block).includes('json')) this.#queryJson(block, text)
    else this.#queryColumns(block, text)
  }

  #queryColumns(block: Block, text: string): void {
    const columns = parseHeader(block.expected![0]!)
    const lines = this.#answer(text).map((row) => {
      expect(row.map(({ name }) => name)).toEqual(columns.map(({ name }) => name))
      const shown = `{${row.map(({ name, value }) => `${JSON.stringify(name)}:${json(value)}`)}}`
      return printRow(parseJson(shown), columns)
    })
    const isSorted = argumentsOf(block).includes('rowsort')
    const actual = [printHeader(columns), ...(isSorted ? lines.sort() : lines)]
    if (!isExpected(block, actual)) expect(actual.join('\n'), text).toBe(block.expected!.join('\n'))
  }

  /** Rows whose columns only the data tells. */
  #queryJson(block: Block, text: string): void {
    const actual = this.#answer(text).map((row) =>
      json(Object.fromEntries(row.map(({ name, value }) => [name, value])), true),
    )
    const expected = block.expected!.map((line) => json(parseJson(line) as Plain, true))
    expect(actual, text).toEqual(expected)
  }

  #answer(text: string): OracleColumn[][] {
    const clock = { now: this.#now ?? Date.now(), tzOffset: this.#tzOffset }
    const table = (from: TableSource) => this.#table(from)
    return answer(parseQuery(text), { table, clock })
  }

  #table({ table, ids }: TableSource): OracleTable {
    const objects = ids.map(({ value }) => value)
    const rows = this.#rows.filter(
      ({ object, type }) =>
        (table === 'project' && !catalogTypes.includes(type)) ||
        (table === type && objects.includes(object)),
    )
    return { rows, objects }
  }
}

/** Costs are in metrics of summaries that do not ask for them. */
function answerOf({ expected = [] }: Block): string {
  return expected.join('\n').replaceAll('"estimated_cost":null', '')
}

/** Syntax errors need no engine. */
function refuse(block: Block): void {
  const text = block.body.join('\n')
  try {
    parseQuery(text)
  } catch (thrown) {
    const actual = renderError(text, toAssayError(thrown)).split('\n')
    if (!isExpected(block, actual)) expect(actual.join('\n'), text).toBe(block.expected!.join('\n'))
  }
}

/** Objects of a project whose rows are no records of it. */
const catalogTypes = ['project_prompts', 'project_views']

const logIds: Record<string, string> = {
  project_logs: 'g',
  project_prompts: 'p',
  project_views: 'v',
  playground_logs: 'x',
}

/** What the service adds to a row that the golden files look at. */
function derived(type: string, given: Record<string, Plain>): Record<string, Plain> {
  const { span_id = given.id!, span_parents, expected = null, output = null } = given
  return {
    is_root: !Array.isArray(span_parents) || span_parents.length === 0,
    root_span_id: given.root_span_id ?? span_id,
    span_id,
    ...(logIds[type] && { log_id: logIds[type] }),
    ...(type === 'dataset' && { expected: expected ?? output }),
  }
}

function isForOracle({ text }: GoldenFile): boolean {
  return !beyondOracle.test(text)
}

describe('golden answers by the oracle', () => {
  it.each(readGoldenFiles().filter(isForOracle))('$name', ({ blocks }) => {
    const run = new OracleRun()
    for (const block of blocks) run.run(block)
  })
})
