/**
 * Real records, imported as a user would and asked about in two systems: every answer of ours is
 * compared with that of DuckDB on the same files. The same questions are asked when all records are
 * in the delta, after some were changed and deleted, of the version before that, and once more when
 * flush and compaction have moved everything into segments.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DuckDB } from '../support/duckdb.ts'
import { RecordStore } from '../support/record-store.ts'
import { firstDifference } from '../support/same-answer.ts'
import { answerQuestions } from './answer-questions.ts'
import { deleted, lengthened, openTables, relabeled } from './duckdb-tables.ts'
import { filesAreThere, missingNote, readExperiments, readRequests } from './files.ts'
import { type Question, type Scope, scopeOf } from './questions.ts'
import { requestQuestions } from './request-questions.ts'

const questions = [...answerQuestions, ...requestQuestions]
const rowsPerRequest = 5_000

test.skipIf(filesAreThere)('real records are compared with DuckDB where they are at hand', () => {
  console.warn(missingNote)
})

describe.skipIf(!filesAreThere)('real records', { timeout: 120_000 }, () => {
  let store: RecordStore
  let duckdb: DuckDB
  let scope: Scope
  let importedVersion: string
  const experimentIds = new Map<string, string>()

  beforeAll(async () => {
    store = await RecordStore.open({ workers: 2 })
    for (const { name, events } of readExperiments()) {
      const id = await store.createExperiment(name)
      experimentIds.set(name, id)
      importedVersion = await store.insert({ type: 'experiment', id }, bodyOf(events))
    }
    importedVersion = await insertInLogs(readRequests())
    scope = scopeOf({ projectId: store.projectId, experimentIds })
    duckdb = await openTables(experimentIds)
  }, 120_000)

  afterAll(async () => {
    duckdb?.close()
    await store?.close()
  })

  function insertInExperiment(name: string, events: readonly object[]): Promise<string> {
    return store.insert({ type: 'experiment', id: experimentIds.get(name)! }, bodyOf(events))
  }

  async function insertInLogs(events: readonly object[]): Promise<string> {
    let transaction = ''
    for (let i = 0; i < events.length; i += rowsPerRequest) {
      const object = { type: 'project_logs', id: store.projectId } as const
      transaction = await store.insert(object, bodyOf(events.slice(i, i + rowsPerRequest)))
    }
    return transaction
  }

  /** Compares the answers to a question, read from columns and as the planner chooses. */
  async function compare(question: Question, schema: 'imported' | 'changed', version?: string) {
    await duckdb.run(`use ${schema}`)
    const expected = await duckdb.rows(question.sql)
    for (const useColumnstore of [true, false]) {
      const actual = await store.ask(question.query(scope), {
        useColumnstore,
        ...(question.tzOffset !== undefined && { tzOffset: question.tzOffset }),
        ...(version !== undefined && { version }),
      })
      const difference = firstDifference(actual, expected)
      expect(difference, `use_columnstore ${useColumnstore}`).toBeUndefined()
    }
  }

  describe('in the delta', () => {
    test.each(questions)('$name', (question) => compare(question, 'imported'))
  })

  describe('changed in the delta', () => {
    beforeAll(() => change())

    test.each(questions)('$name', (question) => compare(question, 'changed'))

    test.each(questions)('as imported: $name', (question) =>
      compare(question, 'imported', importedVersion),
    )
  })

  describe('in segments', () => {
    beforeAll(async () => {
      await store.engine.flush()
      await store.engine.compact()
    }, 120_000)

    test.each(questions)('$name', (question) => compare(question, 'changed'))

    test.each(questions)('as imported: $name', (question) =>
      compare(question, 'imported', importedVersion),
    )
  })

  async function change(): Promise<void> {
    const experiments = new Map(readExperiments().map(({ name, events }) => [name, events]))
    const idsOf = (experiment: string, before: string) =>
      experiments
        .get(experiment)!
        .map(({ id }) => String(id))
        .filter((id) => id < before)
    const relabelings = idsOf(relabeled.experiment, relabeled.before).map((id) => {
      return { id, _is_merge: true, scores: { win_rate: relabeled.winRate } }
    })
    const deletions = idsOf(deleted.experiment, deleted.before).map((id) => {
      return { id, _object_delete: true }
    })
    await insertInExperiment(relabeled.experiment, relabelings)
    await insertInExperiment(deleted.experiment, deletions)
    const requests = readRequests() as { created: string; metrics: object }[]
    await insertInLogs(
      requests
        .filter(({ created }) => created < lengthened.before)
        .map((request) => {
          const metrics = { ...request.metrics, completion_tokens: lengthened.completionTokens }
          return { ...request, metrics }
        }),
    )
  }
})

function bodyOf(events: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ events }))
}
