/** The real records that may lie beside the checkout, and how they become requests. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const folder = new URL('../../../shared/data', import.meta.url).pathname

export const answersFile = join(folder, 'alpaca-eval-experiments.jsonl.gz')
export const requestFiles = {
  code: join(folder, 'azure-llm-code.csv.gz'),
  conversation: join(folder, 'azure-llm-conv.csv.gz'),
} as const

export const filesAreThere = existsSync(answersFile)
export const missingNote = `the real records are not here: there is no ${folder}`

export interface ExperimentRecords {
  readonly name: string
  readonly events: readonly Record<string, unknown>[]
}

/** The records by experiment, in the order of the file; the name of the experiment is left out. */
export function readExperiments(): ExperimentRecords[] {
  const experiments = new Map<string, Record<string, unknown>[]>()
  for (const line of lines(answersFile)) {
    const { experiment, ...event } = JSON.parse(line) as { experiment: string }
    const events = experiments.get(experiment)
    if (events) events.push(event)
    else experiments.set(experiment, [event])
  }
  return Array.from(experiments, ([name, events]) => ({ name, events }))
}

/** The traces of requests as spans of a project's logs. */
export function readRequests(): Record<string, unknown>[] {
  return Object.entries(requestFiles).flatMap(([kind, file]) =>
    lines(file)
      .slice(1)
      .map((line, i) => {
        const [time, prompt, completion] = line.split(',')
        return {
          id: `${kind}-${i}`,
          created: toIso(time!),
          metrics: { prompt_tokens: Number(prompt), completion_tokens: Number(completion) },
          metadata: { kind },
        }
      }),
  )
}

/** `2023-11-16 18:17:03.9799600` in ISO 8601; the seventh digit is always zero. */
function toIso(time: string): string {
  return `${time.slice(0, 10)}T${time.slice(11, 26)}Z`
}

function lines(file: string): string[] {
  return gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split(/\r?\n/)
}
