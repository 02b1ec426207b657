/** What the comparison with other engines asks, and in which bodies. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openDataFile } from '../../bench/peers/generator/data-file.ts'
import { allQueries, textsOf } from '../../bench/peers/queries/all-queries.ts'
import { ConstantSource } from '../../bench/peers/queries/constants.ts'
import { bodyForms } from '../../bench/peers/queries/request-body.ts'
import { parseRequest } from '../../src/parser/parse-request.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { readJsonQuery } from '../../src/parser/read-json-query.ts'

const directory = mkdtempSync(join(tmpdir(), 'assay-peers-queries-'))
afterAll(() => rmSync(directory, { recursive: true }))

const data = openDataFile(directory, 3000)
const constants = new ConstantSource(data)
const asks = 8

/** The query of a body, as it is written canonically. */
function queryOf(body: string): string {
  const { query } = JSON.parse(body) as { query: unknown }
  return printQuery(
    typeof query === 'string' ? parseRequest(query, undefined) : readJsonQuery(query),
  )
}

for (const query of allQueries) {
  test(`"${query.name}" is the same query in the bodies of all clients`, () => {
    const source = `from: project_logs('p')${query.shape ? ` ${query.shape}` : ''}`
    const forms = new Set<string>()
    for (let number = 0; number < asks; number++) {
      const body = textsOf(query, { constants, number, projectId: 'p' })('assay')
      const text = `${query.btql(constants.draw(query.name, number, 0))}\n${source}`
      expect(queryOf(body)).toBe(printQuery(parseRequest(text, undefined)))
      const { query: asked, ...others } = JSON.parse(body) as Record<string, unknown>
      forms.add(`${typeof asked} ${JSON.stringify(Object.keys(others))}`)
    }
    expect(forms.size).toBe(bodyForms.length)
  })
}

test('asks have other constants each, and the same in every run', () => {
  const drawn = Array.from({ length: 100 }, (_, ask) => constants.draw('count', ask, 0))
  const again = new ConstantSource(data)
  expect(drawn.map((_, ask) => again.draw('count', ask, 0))).toEqual(drawn)
  for (const name of ['id', 'from', 'singleWord', 'seconds', 'higherPercentile'] as const) {
    expect(new Set(drawn.map((one) => one[name])).size, name).toBeGreaterThan(40)
  }
})
