import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Gate } from '../../src/access/gate.ts'
import { bindSource } from '../../src/binder/bind-source.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { toAssayError } from '../../src/error.ts'
import type { TableSource } from '../../src/parser/ast.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'
import { ownerGate } from '../support/owner-gate.ts'

let directory: string
let records: RecordsEnvironment
let catalog: Catalog
let ours: Gate
let theirs: Gate

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-source-'))
  records = openRecords(directory, { readOnly: false })
  catalog = new Catalog(records)
  ours = await ownerGate(catalog, 'ours')
  theirs = await ownerGate(catalog, 'theirs')
})

afterEach(async () => {
  await records.root.close()
  rmSync(directory, { recursive: true })
})

async function project(gate: Gate, name: string): Promise<string> {
  return (await gate.findOrCreate('project', { name })).entry.id
}

async function experiment(gate: Gate, project_id: string, name: string): Promise<string> {
  return (await gate.findOrCreate('experiment', { project_id, name })).entry.id
}

const span = { start: 0, end: 1 }

function source(table: string, ...ids: string[]): TableSource {
  return {
    kind: 'table',
    table,
    tableSpan: span,
    ids: ids.map((value) => ({ value, span })),
    shape: undefined,
    shapeSpan: undefined,
    span,
  }
}

/** Ids of the objects that are found, or the error's code, message and hint. */
function find(view: Gate, table: string, ...ids: string[]): unknown {
  try {
    return bindSource(source(table, ...ids), view).objects.map(({ id }) => id)
  } catch (thrown) {
    const { code, message, hint } = toAssayError(thrown)
    return { code, message, hint }
  }
}

test('an id wins over a name, and a name of one object is enough', async () => {
  const weather = await project(ours, 'weather')
  const first = await experiment(ours, weather, 'first')
  const second = await experiment(ours, weather, first)
  expect(find(ours, 'experiment', first)).toEqual([first])
  expect(find(ours, 'experiment', 'first', second)).toEqual([first, second])
  expect(find(ours, 'project_logs', 'weather')).toEqual([weather])
  expect(find(ours, 'project', 'weather')).toEqual([weather, first, second])
})

test('a name in several projects needs its project', async () => {
  const [a, b] = [await project(ours, 'a'), await project(ours, 'b/c')]
  const inA = await experiment(ours, a, 'same')
  const inB = await experiment(ours, b, 'same')
  expect(find(ours, 'experiment', 'same')).toEqual({
    code: 'BIND_AMBIGUOUS_SOURCE',
    message: 'several projects have experiment "same": "a", "b/c"',
    hint: "use the id, or name the project: experiment('a/same')",
  })
  expect(find(ours, 'experiment', 'a/same', 'b/c/same')).toEqual([inA, inB])
  expect(find(ours, 'experiment', `${a}/same`)).toEqual([inA])
})

test('what is elsewhere looks like what is nowhere, and is never suggested', async () => {
  const secret = await experiment(theirs, await project(theirs, 'hidden'), 'secret')
  const error = (type: string, id: string, hint?: string) => ({
    code: 'ACCESS_DENIED',
    message: `Missing read access to ${type} id ${id}, or the ${type} does not exist`,
    hint,
  })
  expect(find(ours, 'experiment', secret)).toEqual(error('experiment', secret))
  expect(find(ours, 'dataset', secret)).toEqual(error('dataset', secret))
  expect(find(ours, 'experiment', 'secret')).toEqual(error('experiment', 'secret'))
  expect(find(ours, 'experiment', 'secrte')).toEqual(error('experiment', 'secrte'))
  expect(find(ours, 'experiment', 'hidden/secret')).toEqual(error('experiment', 'hidden/secret'))
  expect(find(ours, 'project', 'hidden')).toEqual(error('project', 'hidden'))
  expect(find(ours, 'project_dataset', 'hidden', 'x')).toEqual(error('project', 'hidden'))
  expect(find(ours, 'org_prompts', 'theirs')).toEqual(error('organization', 'theirs', undefined))
  expect(find(theirs, 'experiment', 'secrte')).toEqual(
    error('experiment', 'secrte', 'did you mean "secret"?'),
  )
})

test('prompts and functions are found in all projects of the organization', async () => {
  const [a, b] = [await project(ours, 'a'), await project(ours, 'b')]
  await project(theirs, 'c')
  expect(find(ours, 'org_functions', 'ours')).toEqual([a, b])
  expect(find(ours, 'prompt', 'some row')).toEqual([a, b])
  expect(bindSource(source('function', 'x', 'y'), ours).restriction).toEqual({
    kind: 'in',
    operand: { kind: 'field', path: ['id'], type: 'string' },
    list: { kind: 'constant', value: ['x', 'y'], type: 'json' },
    type: 'boolean',
  })
  expect(bindSource(source('project_functions', a), ours).restriction).toBeUndefined()
})
