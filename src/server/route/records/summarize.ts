import type { Gate } from '../../../access/gate.ts'
import type { Entries } from '../../../catalog/entry.ts'
import type { Engine } from '../../../engine.ts'
import { summarizeExperiment } from '../../experiment-summary.ts'
import { addressHeaders, type PublicUrl } from '../../public-url.ts'
import { jsonReply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { baseExperiment } from '../app/base-experiment.ts'
import { requiredId } from '../app/request.ts'
import { countRecords } from '../app/summary.ts'

type Kind = 'experiment' | 'dataset'

/** What is said beside names and addresses, where the request asks for it. */
type Numbers<K extends Kind> = (
  entry: Entries[K],
  request: RouteRequest,
  gate: Gate,
) => Promise<object>

/** `/v1/{experiment|dataset}/{id}/summarize`. */
export function summarizeRoutes(engine: Engine, publicUrl: PublicUrl): Route[] {
  return [
    summarizeRoute(
      publicUrl,
      'experiment',
      'summarize_scores',
      async (experiment, request, gate) => {
        const { query, signal } = request
        const baseId = query.get('comparison_experiment_id')
        const base = baseId
          ? gate.require('read', 'experiment', requiredId(baseId, 'comparison_experiment_id'))
          : baseExperiment(gate, experiment)
        const summary = await summarizeExperiment({ engine, gate, signal }, experiment, base)
        return { comparison_experiment_name: base?.name ?? null, ...summary }
      },
    ),
    summarizeRoute(publicUrl, 'dataset', 'summarize_data', async (dataset, { signal }, gate) => ({
      data_summary: { total_records: await countRecords(engine, gate, dataset.id, signal) },
    })),
  ]
}

function summarizeRoute<K extends Kind>(
  publicUrl: PublicUrl,
  kind: K,
  asksForNumbers: string,
  numbers: Numbers<K>,
): Route {
  return {
    method: 'GET',
    path: `/v1/${kind}/:id/summarize`,
    access: 'key',
    headers: addressHeaders,
    handle: async (request, gate) => {
      const { parameters, query, headers } = request
      const entry: Entries[K] = gate.require('read', kind, parameters[0]!)
      const places = placesOf(gate, entry.project_id, publicUrl(headers))
      const names = {
        project_name: places.projectName,
        [`${kind}_name`]: entry.name,
        project_url: places.url,
        [`${kind}_url`]: `${places.url}/${kind}s/${encodeURIComponent(entry.name)}`,
      }
      if (query.get(asksForNumbers) !== 'true') return jsonReply(names)
      return jsonReply({ ...names, ...(await numbers(entry, request, gate)) })
    },
  }
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
