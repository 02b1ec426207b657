/** Lets clients use a service at random while it flushes, compacts, removes, and is stopped and killed. */
import { setTimeout as wait } from 'node:timers/promises'
import { RandomChoice } from '../random-choice.ts'
import { type AnyJson, testKey } from '../running-service.ts'
import { HistoryClient, HistoryListener, type World } from './clients.ts'
import type { History, Trace } from './operation.ts'
import { RestartingService } from './restarting-service.ts'

export interface HistoryOptions {
  /** `history-child`, compiled. */
  readonly program: string
  readonly directory: string
  readonly seed: number
  readonly seconds: number
  readonly clients: number
  /** How many times the service ends in the middle; every third time by itself, else by `kill -9`. */
  readonly restarts: number
}

const longestCatchUpMs = 60_000

/** However busy the machine is, there are so many. */
const fewestWrites = 50
const fewestReads = 100

/** Rejects when an answer is none that a client may get, or a stream does not catch up in the end. */
export async function runHistory(options: HistoryOptions): Promise<History> {
  const { program, directory, seed, seconds, clients, restarts } = options
  const service = new RestartingService(program, directory)
  const random = new RandomChoice(seed)
  const { id: project } = await post(service, '/v1/project', { name: 'history' })
  const objects: string[] = []
  for (const name of ['a', 'b', 'c']) objects.push(await newExperiment(service, project, name))
  const began = performance.now()
  const world: World = {
    service,
    objects,
    now: () => performance.now() - began,
    writes: [],
    reads: [],
    streams: [],
    versions: [],
    failures: [],
    isOver: false,
  }
  // A field is known once a record has it.
  const outside = new HistoryClient(world, clients, random)
  for (const object of objects) await outside.write([object])
  const listeners = [
    new HistoryListener(world, objects, { kind: 'rows' }),
    new HistoryListener(world, [objects[0]!], { kind: 'rows', least: 50 }),
    new HistoryListener(world, objects, { kind: 'groups' }),
  ]
  const listening = listeners.map((listener) => listener.run())
  const running = Array.from({ length: clients }, (_, i) =>
    new HistoryClient(world, i, new RandomChoice(seed + i + 1)).run(),
  )
  const removing = removeObjects(world, project)
  // A busy machine takes long to start a service: two restarts there are in any case.
  for (let i = 0; i < restarts && (i < 2 || world.now() < seconds * 1000); i++) {
    await wait((seconds * 1000 * (0.5 + random.below(1000) / 1000)) / (restarts + 1))
    await service.restart(i % 3 === 2 ? 'SIGTERM' : 'SIGKILL')
  }
  const isEnough = () =>
    world.now() > seconds * 1000 &&
    world.writes.length >= fewestWrites &&
    world.reads.length >= fewestReads
  while (!isEnough()) await wait(100)
  world.isOver = true
  await Promise.all([...running, removing])
  for (const object of objects) await outside.write([object])
  const newest = world.versions.at(-1)!
  const until = performance.now() + longestCatchUpMs
  while (listeners.some(({ transaction }) => transaction < newest)) {
    if (performance.now() > until) throw new Error(`a stream has not come to ${newest}`)
    await wait(20)
  }
  for (const listener of listeners) listener.stop()
  await Promise.all(listening)
  const traces = await readTraces(service, objects)
  await service.end('SIGTERM')
  if (world.failures.length > 0) throw new Error(world.failures.slice(0, 5).join('\n'))
  const { writes, reads, streams } = world
  return { writes, reads, streams, traces }
}

/** All versions of all records. */
async function readTraces(service: RestartingService, objects: readonly string[]) {
  const traces: Trace[] = []
  for (const object of objects) {
    const query = `select: * | from: experiment('${object}') history | limit: 1000000`
    const { data } = await post(service, '/btql', { query })
    for (const row of data as unknown as AnyJson[]) {
      const write = row.write === undefined || row.write === null ? undefined : Number(row.write)
      traces.push({ object, id: String(row.id), transaction: String(row._xact_id), write })
    }
  }
  return traces
}

/** Makes objects and deletes them, so that records are removed from disk beside everything else. */
async function removeObjects(world: World, project: unknown): Promise<void> {
  const { service, failures } = world
  for (let round = 0; !world.isOver; round++) {
    try {
      const id = await newExperiment(service, project, `removed ${round}`)
      const rows = Array.from({ length: 50 }, (_, i) => ({ experiment_id: id, id: `${i}` }))
      await post(service, '/logs3', { rows })
      await wait(200)
      await post(service, `/v1/experiment/${id}`, undefined, 'DELETE')
      const query = `select: id | from: experiment('${id}')`
      const { status } = await send(service, '/btql', { query })
      if (status === 200) failures.push(`experiment ${id} was deleted and is still there`)
    } catch {
      // The service has ended in the middle; what is left of the experiment stays.
      await wait(50)
    }
  }
}

async function newExperiment(service: RestartingService, project_id: unknown, name: string) {
  return String((await post(service, '/v1/experiment', { project_id, name })).id)
}

async function post(service: RestartingService, path: string, body?: object, method = 'POST') {
  const response = await send(service, path, body, method)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status}: ${text}`)
  return JSON.parse(text) as AnyJson
}

async function send(service: RestartingService, path: string, body?: object, method = 'POST') {
  return fetch((await service.url) + path, {
    method,
    headers: { authorization: `Bearer ${testKey}` },
    ...(body && { body: JSON.stringify(body) }),
  })
}
