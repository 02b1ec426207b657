import type { Gate } from '../../../access/gate.ts'
import type { Experiment } from '../../../catalog/entry.ts'

/**
 * What an experiment is compared with: the base it was given, else the one that its project sets, else
 * the experiment that was made before it in the project.
 */
export function baseExperiment(gate: Gate, experiment: Experiment): Experiment | undefined {
  // Who may see the experiment need not be allowed to see its project.
  const settings = gate.find('project', experiment.project_id)?.settings
  for (const id of [experiment.base_exp_id, settings?.baseline_experiment_id]) {
    if (typeof id !== 'string' || id === experiment.id) continue
    if (gate.readable('experiment', id)) return gate.require('read', 'experiment', id)
  }
  const beyond = gate.positionOf('experiment', experiment.id)
  if (beyond === undefined) return undefined
  const scope = { parentId: experiment.project_id }
  const [older] = gate.list('experiment', scope, { beyond, direction: 'older' })
  return older
}
