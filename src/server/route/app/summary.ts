import type { Gate } from '../../../access/gate.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import type { Engine } from '../../../engine.ts'
import { summarizeExperiment } from '../../experiment-summary.ts'
import { queryRows } from '../../query-rows.ts'
import { jsonReply } from '../../reply.ts'
import type { Route } from '../../route.ts'
import { requiredId } from './request.ts'

/** The summaries that clients print at the end of a run. */
export function appSummaryRoutes(engine: Engine): Route[] {
  return [
    {
      method: 'GET',
      path: '/experiment-comparison2',
      access: 'key',
      handle: async ({ query, signal }, gate) => {
        const experiment = gate.require(
          'read',
          'experiment',
          requiredId(query.get('experiment_id'), 'experiment_id'),
        )
        const baseId = query.get('base_experiment_id')
        const base = baseId
          ? gate.require('read', 'experiment', requiredId(baseId, 'base_experiment_id'))
          : undefined
        return jsonReply(await summarizeExperiment({ engine, gate, signal }, experiment, base))
      },
    },
    {
      method: 'GET',
      path: '/dataset-summary',
      access: 'key',
      handle: async ({ query, signal }, gate) => {
        const id = requiredId(query.get('dataset_id'), 'dataset_id')
        return jsonReply({ total_records: await countRecords(engine, gate, id, signal) })
      },
    },
  ]
}

export async function countRecords(
  engine: Engine,
  gate: Gate,
  datasetId: string,
  signal: AbortSignal,
): Promise<number> {
  if (!gate.readable('dataset', datasetId)) throw missingAccess('read', 'dataset', datasetId)
  const query = `measures: count(1) as n | from: dataset('${datasetId}')`
  const [row] = await queryRows(engine, { query, view: gate, signal })
  return Number(row?.n ?? 0)
}
