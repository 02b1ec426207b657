import { randomBytes } from 'node:crypto'
import type { Gate } from '../../../access/gate.ts'
import type { Project } from '../../../catalog/entry.ts'
import type { Fields } from '../../../catalog/schema/field.ts'
import { AssayError } from '../../../error.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import {
  booleanField,
  type JsonBody,
  objectField,
  stringField,
  stringsField,
} from '../../json-body.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { baseExperiment } from './base-experiment.ts'
import { knownProject, namedObject, registeredProject, requiredId } from './request.ts'

export const appExperimentRoutes: readonly Route[] = [
  { method: 'POST', path: '/api/experiment/register', access: 'key', handle: register },
  { method: 'POST', path: '/api/experiment/get', access: 'key', handle: find },
  { method: 'POST', path: '/api/base_experiment/get_id', access: 'key', handle: baseOf },
]

/**
 * Makes an experiment, and its project if there is none. With `update` an experiment of that name is
 * answered as it is; without, the new one gets a name of its own.
 */
async function register(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const project = await registeredProject(body, gate)
  const repository = objectField(body, 'repo_info') ?? null
  const given = {
    project_id: project.id,
    name: stringField(body, 'experiment_name') ?? madeUpName(repository),
    description: stringField(body, 'description') ?? null,
    repo_info: repository,
    commit: textMember(repository, 'commit') ?? null,
    base_exp_id: givenBase(body, project, gate) ?? null,
    dataset_id: stringField(body, 'dataset_id') ?? null,
    dataset_version: stringField(body, 'dataset_version') ?? null,
    internal_metadata: objectField(body, 'internal_metadata') ?? null,
    parameters_id: stringField(body, 'parameters_id') ?? null,
    parameters_version: stringField(body, 'parameters_version') ?? null,
    public: booleanField(body, 'public') ?? false,
    metadata: objectField(body, 'metadata') ?? null,
    tags: stringsField(body, 'tags') ?? null,
  }
  const updates = booleanField(body, 'update') === true
  let { entry: experiment, found } = await gate.findOrCreate('experiment', given)
  while (found && !updates) {
    const name = `${given.name}-${randomBytes(4).toString('hex')}`
    ;({ entry: experiment, found } = await gate.findOrCreate('experiment', { ...given, name }))
  }
  return jsonReply({ project, experiment })
}

function madeUpName(repository: Fields | null): string {
  const branch = textMember(repository, 'branch') ?? 'experiment'
  return `${branch}-${Math.floor(Date.now() / 1000)}`
}

/** The base that the body names by id, by name, or as the nearest commit that has an experiment. */
function givenBase(body: JsonBody, project: Project, gate: Gate): string | undefined {
  const id = stringField(body, 'base_exp_id')
  if (id !== undefined) return gate.require('read', 'experiment', id).id
  const name = stringField(body, 'base_experiment')
  if (name !== undefined) {
    const base = namedObject(gate, 'experiment', project.id, name)
    if (base !== undefined) return base
    // Clients look for these words, and try again without a base.
    throw new AssayError('REQUEST_INVALID', `base experiment "${name.slice(0, 200)}" not found`, {
      path: 'base_experiment',
    })
  }
  const commits = stringsField(body, 'ancestor_commits') ?? []
  if (commits.length === 0) return undefined
  const byCommit = new Map<string, string>()
  for (const { id, commit } of gate.list('experiment', { parentId: project.id })) {
    if (commit !== null && !byCommit.has(commit)) byCommit.set(commit, id)
  }
  const nearest = commits.find((commit) => byCommit.has(commit))
  return nearest === undefined ? undefined : byCommit.get(nearest)
}

/** The experiment of a name, in a list, which is empty if there is none. */
async function find(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const id = stringField(body, 'id') ?? stringField(body, 'experiment_id')
  if (id !== undefined)
    return jsonReply(
      gate.readable('experiment', id) ? [gate.require('read', 'experiment', id)] : [],
    )
  const project = knownProject(body, gate)
  if (!project) return jsonReply([])
  const name = stringField(body, 'experiment_name')
  if (name === undefined) {
    return jsonReply([...gate.list('experiment', { parentId: project.id })])
  }
  const found = namedObject(gate, 'experiment', project.id, name)
  return jsonReply(found === undefined ? [] : [gate.require('read', 'experiment', found)])
}

/** 400 means to clients that there is none. */
async function baseOf(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const experiment = gate.require('read', 'experiment', requiredId(stringField(body, 'id'), 'id'))
  const base = baseExperiment(gate, experiment)
  if (!base) {
    throw new AssayError('REQUEST_INVALID', 'the experiment has no base experiment', { path: 'id' })
  }
  const { id, project_id, name } = experiment
  return jsonReply({ id, project_id, name, base_exp_id: base.id, base_exp_name: base.name })
}

function textMember(fields: Fields | null, name: string): string | undefined {
  const value = fields !== null && Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}
