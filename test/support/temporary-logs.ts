/** An engine with the logs of one project, which tells how many rows queries read. */
import { rm } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import { Engine } from '../../src/engine.ts'
import type { QueryProgress } from '../../src/scheduler/admission/running-query.ts'
import { ownerGate } from './owner-gate.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

/**
 * Segments have at most 20,000 rows unless `segmentRows` says otherwise. Without workers, rows that are in no
 * segment are in no fresh part either.
 */
export async function openLogs(segmentRows = 20_000, workers = 0) {
  const directory = await makeTemporaryDirectory('metadata')
  const maintenance = { automatic: false, limits: { rows: segmentRows } }
  const engine = await Engine.open({ dataDirectory: directory, workers, maintenance })
  onTestFinished(async () => {
    await engine.close()
    await rm(directory, { recursive: true })
  })
  const view = await ownerGate(engine.catalog)
  const { entry: project } = await view.findOrCreate('project', { name: 'p' })
  const object = { type: 'project_logs', id: project.id } as const
  const insert = async (events: readonly object[]) => {
    const body = Buffer.from(JSON.stringify({ events }))
    return (await engine.insert({ body, form: 'events', object, view })).transactionId
  }
  /** The rows of a page, where the next one begins, and how many stored rows were read for it. */
  const page = async (clauses: string, shape = '', version?: string) => {
    const query = `from: project_logs('${project.id}') ${shape} | ${clauses}`
    const given = version === undefined ? {} : { version }
    const result = await engine.query({ query, view, auditLog: true, ...given })
    const rows: object[] = []
    for await (const { bytes } of result.rows) {
      rows.push(...(JSON.parse(`[${Buffer.from(bytes).toString()}]`) as object[]))
    }
    const { auditLog, cursor } = result.finish()
    const read = (auditLog ?? [])
      .filter(({ event }) => event === 'scan')
      .reduce((sum, { rowsRead }) => sum + Number(rowsRead), 0)
    return { rows, cursor, read }
  }
  /** The only row of the answer, and how many rows were read for it. */
  const ask = async (clauses: string, version?: string) => {
    const { rows, read } = await page(clauses, '', version)
    return { ...rows[0], read }
  }
  /** What is answered within the turn; undefined when the query is not small. */
  const now = (clauses: string, useColumnstore = false) => {
    const query = `from: project_logs('${project.id}') | ${clauses}`
    let read = 0
    const onProgress = (progress: QueryProgress) => {
      read = progress.rowsRead
    }
    const { inline, finish } = engine.query({ query, view, useColumnstore, onProgress })
    if (!inline) return undefined
    const rows = JSON.parse(`[${Buffer.from(inline.bytes).toString()}]`) as object[]
    return { rows, cursor: finish().cursor, read }
  }
  /** The rows of a query that keeps no log, and so may use what earlier ones have found. */
  const answer = async (clauses: string) => {
    const query = `from: project_logs('${project.id}') | ${clauses}`
    const { rows } = await engine.query({ query, view })
    const texts: string[] = []
    for await (const { bytes } of rows) texts.push(Buffer.from(bytes).toString())
    return JSON.parse(`[${texts.join()}]`) as object[]
  }
  /** How far a query had come at its end. */
  const progressOf = async (clauses: string) => {
    let last: QueryProgress | undefined
    const onProgress = (progress: QueryProgress) => {
      last = progress
    }
    const query = `from: project_logs('${project.id}') | ${clauses}`
    const { rows } = await engine.query({ query, view, onProgress })
    for await (const _ of rows);
    return last
  }
  return { engine, directory, insert, ask, answer, page, now, progressOf }
}
