/** The resources of `/v1` that are entries of the catalog, except those that say who may do what. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import type { Entries, FoundOrCreated } from '../../catalog/entry.ts'
import {
  newProjectAutomation,
  projectAutomationPatch,
  projectAutomationSchema,
} from '../../catalog/schema/automation.ts'
import {
  datasetPatch,
  datasetSchema,
  datasetSnapshotPatch,
  datasetSnapshotSchema,
  newDataset,
  newDatasetSnapshot,
} from '../../catalog/schema/dataset.ts'
import {
  environmentPatch,
  environmentSchema,
  newEnvironment,
} from '../../catalog/schema/environment.ts'
import {
  experimentPatch,
  experimentSchema,
  newExperiment,
} from '../../catalog/schema/experiment.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { newProject, projectPatch, projectSchema } from '../../catalog/schema/project.ts'
import {
  agentPatch,
  agentSchema,
  mcpServerPatch,
  mcpServerSchema,
  newAgent,
  newMcpServer,
  newProjectScore,
  newProjectTag,
  newSpanIframe,
  projectScorePatch,
  projectScoreSchema,
  projectTagPatch,
  projectTagSchema,
  scoreType,
  spanIframePatch,
  spanIframeSchema,
} from '../../catalog/schema/project-part.ts'
import {
  newPromptSession,
  promptSessionPatch,
  promptSessionSchema,
} from '../../catalog/schema/prompt-session.ts'
import { formatTransaction, parseTransaction } from '../../type/transaction.ts'
import type { Route } from '../route.ts'
import { checkedAutomation } from './checked-automation.ts'
import { inProject, projectQuery, projectScope } from './in-project.ts'
import { mergedFields } from './merge.ts'
import { resourceRoutes } from './resource.ts'

const ofProject = { query: projectQuery, scope: projectScope }

type Values = { readonly [field: string]: unknown }

export const catalogResources: readonly Route[] = [
  ...resourceRoutes({
    kind: 'project',
    path: '/v1/project',
    parameter: 'project',
    title: 'project',
    schema: projectSchema,
    list: {},
    creation: { body: newProject, put: 'find' },
    patch: { body: projectPatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'experiment',
    path: '/v1/experiment',
    parameter: 'experiment',
    title: 'experiment',
    schema: experimentSchema,
    list: ofProject,
    creation: {
      body: inProject(newExperiment),
      put: 'find',
      given: (body, gate) => {
        checkReferences(body, gate)
        return {
          ...body,
          name: body.name ?? `experiment-${Math.floor(Date.now() / 1000)}`,
          commit: commitOf(body),
        }
      },
      create: async (given, { ensure_new }, gate) => {
        let named = given
        for (;;) {
          const made: FoundOrCreated<Entries['experiment']> = await gate.findOrCreate(
            'experiment',
            named,
          )
          if (ensure_new !== true || !made.found) return made
          named = { ...given, name: `${given.name}-${randomBytes(4).toString('hex')}` }
        }
      },
    },
    patch: {
      body: experimentPatch,
      changes: (body, gate) => {
        checkReferences(body, gate)
        const commit = commitOf(body)
        return (before) => ({
          ...mergedFields(before, body),
          ...(commit !== null && { commit }),
        })
      },
    },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'dataset',
    path: '/v1/dataset',
    parameter: 'dataset',
    title: 'dataset',
    schema: datasetSchema,
    list: ofProject,
    creation: { body: inProject(newDataset), put: 'find' },
    patch: { body: datasetPatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'dataset_snapshot',
    path: '/v1/dataset_snapshot',
    parameter: 'dataset_snapshot',
    title: 'dataset snapshot',
    schema: datasetSnapshotSchema,
    list: {
      query: { dataset_id: identifier.optional() },
      scope: ({ dataset_id }) => (typeof dataset_id === 'string' ? { parentId: dataset_id } : {}),
    },
    creation: {
      body: newDatasetSnapshot,
      put: 'replace',
      given: (body) => ({ ...body, xact_id: versionOf(body) }),
    },
    patch: { body: datasetSnapshotPatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'prompt_session',
    path: '/v1/prompt_session',
    parameter: 'prompt_session',
    title: 'playground',
    schema: promptSessionSchema,
    list: ofProject,
    creation: { body: inProject(newPromptSession) },
    patch: { body: promptSessionPatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'project_score',
    path: '/v1/project_score',
    parameter: 'project_score',
    title: 'project score',
    schema: projectScoreSchema,
    list: {
      query: { ...projectQuery, score_type: z.array(scoreType).optional() },
      scope: projectScope,
      matches: ({ score_type }) => {
        const types = Array.isArray(score_type) ? score_type : undefined
        return (score) => types === undefined || types.includes(score.score_type)
      },
    },
    creation: { body: inProject(newProjectScore), put: 'replace' },
    patch: { body: projectScorePatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'project_tag',
    path: '/v1/project_tag',
    parameter: 'project_tag',
    title: 'project tag',
    schema: projectTagSchema,
    list: ofProject,
    creation: { body: inProject(newProjectTag), put: 'replace' },
    patch: { body: projectTagPatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'project_automation',
    path: '/v1/project_automation',
    parameter: 'project_automation',
    title: 'project automation',
    schema: projectAutomationSchema,
    list: ofProject,
    creation: {
      body: inProject(newProjectAutomation),
      put: 'replace',
      given: checkedAutomation,
    },
    patch: {
      body: projectAutomationPatch,
      changes: (body, gate) => {
        const checked = checkedAutomation(body, gate)
        return (before) => mergedFields(before, checked)
      },
    },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'span_iframe',
    path: '/v1/span_iframe',
    parameter: 'span_iframe',
    title: 'span frame',
    schema: spanIframeSchema,
    list: ofProject,
    creation: { body: inProject(newSpanIframe), put: 'replace' },
    patch: { body: spanIframePatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'mcp_server',
    path: '/v1/mcp_server',
    parameter: 'mcp_server',
    title: 'MCP server',
    schema: mcpServerSchema,
    list: ofProject,
    creation: { body: inProject(newMcpServer), put: 'replace' },
    patch: { body: mcpServerPatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'agent',
    path: '/v1/agent',
    parameter: 'agent',
    title: 'agent',
    schema: agentSchema,
    list: ofProject,
    creation: { body: inProject(newAgent), put: 'replace' },
    patch: { body: agentPatch },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'environment',
    path: '/environment',
    parameter: 'environment',
    title: 'environment',
    schema: environmentSchema,
    list: {},
    creation: { body: newEnvironment },
    patch: { body: environmentPatch, clearable: ['description'] },
    isRemovable: true,
  }),
]

/** The base experiment and the dataset of an experiment must be there. */
function checkReferences({ base_exp_id, dataset_id }: Values, gate: Gate): void {
  if (typeof base_exp_id === 'string') gate.require('read', 'experiment', base_exp_id)
  if (typeof dataset_id === 'string') gate.require('read', 'dataset', dataset_id)
}

/** As it is shown everywhere, however it was written. */
function versionOf({ xact_id }: Values): string {
  return formatTransaction(parseTransaction(String(xact_id)))
}

function commitOf({ repo_info }: Values): string | null {
  if (typeof repo_info !== 'object' || repo_info === null || !('commit' in repo_info)) return null
  return typeof repo_info.commit === 'string' ? repo_info.commit : null
}
