/** Tools that tell what experiments come to. */
import { z } from 'zod'
import type { Experiment } from '../../catalog/entry.ts'
import { summarizeExperiment } from '../experiment-summary.ts'
import { baseExperiment } from '../route/app/base-experiment.ts'
import { permalink, placeOf } from './permalink.ts'
import { answered, readOnly, type ToolContext, type ToolServer } from './tool-answer.ts'

const id = z.string().max(100)

export function registerExperimentTools(server: ToolServer, context: ToolContext): void {
  const { gate } = context
  server.registerTool(
    'summarize_experiment',
    {
      description:
        'Averages of the scores and metrics of an experiment, and how many cases got better or worse than in its base.',
      inputSchema: {
        experiment_id: id,
        base_experiment_id: id
          .optional()
          .describe('What to compare with; the experiment’s own base if not given'),
      },
      annotations: readOnly,
    },
    ({ experiment_id, base_experiment_id }) =>
      answered(undefined, async () => {
        const experiment = gate.require('read', 'experiment', experiment_id)
        const base =
          base_experiment_id === undefined
            ? baseExperiment(gate, experiment)
            : gate.require('read', 'experiment', base_experiment_id)
        return summaryOf(context, experiment, base)
      }),
  )
  server.registerTool(
    'compare_experiments',
    {
      description:
        'Compares experiments with a base: averages of their scores and metrics, and how many cases got better or worse.',
      inputSchema: {
        base_experiment_id: id.describe('What the others are held against'),
        experiment_ids: z.array(id).min(1).max(10),
      },
      annotations: readOnly,
    },
    ({ base_experiment_id, experiment_ids }) =>
      answered(undefined, async () => {
        const base = gate.require('read', 'experiment', base_experiment_id)
        // All are looked up before the first is read.
        const others = experiment_ids.map((one) => gate.require('read', 'experiment', one))
        const experiments = []
        for (const other of others) experiments.push(await summaryOf(context, other, base))
        return { base: await summaryOf(context, base, undefined), experiments }
      }),
  )
}

async function summaryOf(
  { engine, gate, signal, url }: ToolContext,
  experiment: Experiment,
  base: Experiment | undefined,
) {
  const summary = await summarizeExperiment({ engine, gate, signal }, experiment, base)
  return {
    experiment: experiment.name,
    base: base?.name ?? null,
    ...summary,
    url: permalink(gate, url, placeOf(gate, 'experiment', experiment.id)),
  }
}
