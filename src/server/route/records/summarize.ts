import type { Gate } from '../../../access/gate.ts'
import type { Engine } from '../../../engine.ts'
import { summarizeExperiment } from '../../experiment-summary.ts'
import { addressHeaders, type PublicUrl } from '../../public-url.ts'
import { jsonReply } from '../../reply.ts'
import type { Route } from '../../route.ts'
import { baseExperiment } from '../app/base-experiment.ts'
import { requiredId } from '../app/request.ts'
import { countRecords } from '../app/summary.ts'

/** `/v1/{experiment|dataset}/{id}/summarize`. */
export function summarizeRoutes(engine: Engine, publicUrl: PublicUrl): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/experiment/:id/summarize',
      access: 'key',
      headers: addressHeaders,
      handle: async ({ parameters, query, headers, signal }, gate) => {
        const experiment = gate.require('read', 'experiment', parameters[0]!)
        const places = placesOf(gate, experiment.project_id, publicUrl(headers))
        const names = {
          project_name: places.projectName,
          experiment_name: experiment.name,
          project_url: places.url,
          experiment_url: `${places.url}/experiments/${encodeURIComponent(experiment.name)}`,
        }
        if (query.get('summarize_scores') !== 'true') return jsonReply(names)
        const baseId = query.get('comparison_experiment_id')
        const base = baseId
          ? gate.require('read', 'experiment', requiredId(baseId, 'comparison_experiment_id'))
          : baseExperiment(gate, experiment)
        const summary = await summarizeExperiment({ engine, gate, signal }, experiment, base)
        return jsonReply({ ...names, comparison_experiment_name: base?.name ?? null, ...summary })
      },
    },
    {
      method: 'GET',
      path: '/v1/dataset/:id/summarize',
      access: 'key',
      headers: addressHeaders,
      handle: async ({ parameters, query, headers, signal }, gate) => {
        const dataset = gate.require('read', 'dataset', parameters[0]!)
        const places = placesOf(gate, dataset.project_id, publicUrl(headers))
        const names = {
          project_name: places.projectName,
          dataset_name: dataset.name,
          project_url: places.url,
          dataset_url: `${places.url}/datasets/${encodeURIComponent(dataset.name)}`,
        }
        if (query.get('summarize_data') !== 'true') return jsonReply(names)
        const count = await countRecords(engine, gate, dataset.id, signal)
        return jsonReply({ ...names, data_summary: { total_records: count } })
      },
    },
  ]
}

/** Pages are where the SDKs expect them: `/app/<organization>/p/<project>/…`. */
function placesOf(gate: Gate, projectId: string, url: string) {
  // Who may see an object need not be allowed to see its project, and then gets no name of it.
  const projectName = gate.find('project', projectId)?.name ?? projectId
  const organization = encodeURIComponent(gate.organization().name)
  return {
    projectName,
    url: `${url}/app/${organization}/p/${encodeURIComponent(projectName)}`,
  }
}
