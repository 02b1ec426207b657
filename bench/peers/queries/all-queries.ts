import type { Layout } from '../systems/system.ts'
import { aggregateQueries } from './aggregate-queries.ts'
import type { ConstantSource } from './constants.ts'
import type { PeerQuery } from './peer-query.ts'
import { bodyFormOf, requestBody, tzOffsetOf } from './request-body.ts'
import { rowQueries } from './row-queries.ts'
import {
  clickhouseJson,
  clickhouseTyped,
  duckdbJson,
  duckdbTyped,
  type SqlForm,
} from './sql-form.ts'
import { textQueries } from './text-queries.ts'

export const allQueries: readonly PeerQuery[] = [...aggregateQueries, ...rowQueries, ...textQueries]

/** Those whose name has one of the texts; all if none are given. */
export function selectQueries(texts: readonly string[] | undefined): readonly PeerQuery[] {
  return allQueries.filter(({ name }) => texts?.some((text) => name.includes(text)) ?? true)
}

const forms: Readonly<Record<Exclude<Layout, 'assay'>, SqlForm>> = {
  duckdb: duckdbTyped,
  'duckdb-json': duckdbJson,
  clickhouse: clickhouseTyped,
  'clickhouse-json': clickhouseJson,
}

export interface Ask {
  readonly constants: ConstantSource
  /** From 0: each has other constants. */
  readonly number: number
  readonly projectId: string
}

/**
 * The text that a system is asked, by its layout; for Assay the body of a request. In all systems the same is asked,
 * and in every run.
 */
export function textsOf(query: PeerQuery, ask: Ask): (layout: Layout) => string {
  const form = bodyFormOf(allQueries.indexOf(query), ask.number)
  const tzOffset = tzOffsetOf(form, ask.number)
  const constants = ask.constants.draw(query.name, ask.number, tzOffset)
  return (layout) => {
    if (layout !== 'assay') return query.sql(forms[layout], constants)
    const source = `from: project_logs('${ask.projectId}')${query.shape ? ` ${query.shape}` : ''}`
    return requestBody(form, { text: `${query.btql(constants)}\n${source}`, tzOffset })
  }
}
