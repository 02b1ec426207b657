import type { Gate } from '../../../access/gate.ts'
import type { Entries } from '../../../catalog/entry.ts'
import type { Engine } from '../../../engine.ts'
import { AssayError } from '../../../error.ts'
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
        const { signal } = request
        const baseId = comparedId(request)
        const base = baseId
          ? gate.require('read', 'experiment', baseId)
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
      if (kind === 'experiment') comparedId(request)
      const entry: Entries[K] = gate.require('read', kind, parameters[0]!)
      const places = placesOf(gate, entry.project_id, publicUrl(headers))
      const names = {
        project_name: places.projectName,
        [`${kind}_name`]: entry.name,
        project_url: places.url,
        [`${kind}_url`]: `${places.url}/${kind}s/${encodeURIComponent(entry.name)}`,
      }
      if (!isAsked(query, asksForNumbers)) return jsonReply(names)
      return jsonReply({ ...names, ...(await numbers(entry, request, gate)) })
    },
  }
}

/** Throws a 400 for what is no id, whether it is compared or not. */
function comparedId({ query }: RouteRequest): string | undefined {
  const id = query.get('comparison_experiment_id')
  return id ? requiredId(id, 'comparison_experiment_id') : undefined
}

/** `True` is what programs in Python make of it. */
function isAsked(query: URLSearchParams, name: string): boolean {
  const [text = 'false', ...others] = query.getAll(name).map((each) => each.toLowerCase())
  if (others.length === 0 && (text === 'true' || text === 'false')) return text === 'true'
  throw new AssayError('REQUEST_INVALID', `"${name}" must be true or false`, { path: name })
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
