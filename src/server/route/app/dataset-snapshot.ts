/** Versions of datasets under names, as clients make, list and remove them. */
import type { Gate } from '../../../access/gate.ts'
import { formatTransaction, parseTransaction } from '../../../type/transaction.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { booleanField, requiredString, stringField } from '../../json-body.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'

export const appDatasetSnapshotRoutes: readonly Route[] = [
  { method: 'POST', path: '/api/dataset_snapshot/register', access: 'key', handle: register },
  { method: 'POST', path: '/api/dataset_snapshot/get', access: 'key', handle: find },
  { method: 'POST', path: '/api/dataset_snapshot/patch_id', access: 'key', handle: patch },
  { method: 'POST', path: '/api/dataset_snapshot/delete_id', access: 'key', handle: remove },
]

/** A snapshot of that name is answered as it is, unless the body says to update it. */
async function register(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const dataset = gate.require('read', 'dataset', requiredString(body, 'dataset_id'))
  const description = stringField(body, 'description')
  const version = normalized(requiredString(body, 'xact_id'))
  const { entry, found } = await gate.findOrCreate('dataset_snapshot', {
    dataset_id: dataset.id,
    name: requiredString(body, 'dataset_snapshot_name'),
    description: description ?? null,
    xact_id: version,
  })
  if (!found || booleanField(body, 'update') !== true) {
    return jsonReply({ dataset_snapshot: entry, found_existing: found })
  }
  const updated = await gate.update('dataset_snapshot', entry.id, {
    xact_id: version,
    ...(description !== undefined && { description }),
  })
  return jsonReply({ dataset_snapshot: updated, found_existing: true })
}

/** The snapshots of a dataset, in a list; only that of a name or version if the body has one. */
async function find(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const dataset = gate.require('read', 'dataset', requiredString(body, 'dataset_id'))
  const name = stringField(body, 'name') ?? stringField(body, 'dataset_snapshot_name')
  const version = stringField(body, 'xact_id')
  const scope = { parentId: dataset.id, ...(name !== undefined && { name }) }
  const wanted = version === undefined ? undefined : normalized(version)
  const snapshots = [...gate.list('dataset_snapshot', scope)]
  return jsonReply(snapshots.filter(({ xact_id }) => wanted === undefined || xact_id === wanted))
}

async function patch(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const name = stringField(body, 'name')
  const description = stringField(body, 'description')
  return jsonReply(
    await gate.update('dataset_snapshot', requiredString(body, 'id'), {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
    }),
  )
}

async function remove(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  return jsonReply(await gate.remove('dataset_snapshot', requiredString(body, 'id')))
}

/** Versions come in two forms; the decimal one is kept. */
function normalized(version: string): string {
  return formatTransaction(parseTransaction(version))
}
