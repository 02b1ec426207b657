/**
 * Fails each call of maintenance once: `node maintenance-child.ts DIRECTORY CONTROL ERROR MODE MOST`, with the library of
 * `io-shim.c` below DIRECTORY. After each failure it counts all rows, and goes on with the same work. It ends with a line that
 * tells how many calls of which step failed.
 */
import { Engine } from '../../../src/engine.ts'
import { AssayError } from '../../../src/error.ts'
import { ownerGate } from '../owner-gate.ts'
import { type Fault, FaultControl } from './io-shim.ts'

const [directory, controlPath, error, mode, most] = process.argv.slice(2) as string[]
const fault = { error, mode } as Fault
const control = new FaultControl(controlPath!, directory!)
let engine = await open()
let view = await ownerGate(engine.catalog)
let inserted = 0
const { entry: project } = await view.findOrCreate('project', { name: 'p' })
const { entry: kept } = await view.findOrCreate('experiment', {
  project_id: project.id,
  name: 'kept',
})

function open(): Promise<Engine> {
  const maintenance = { automatic: false, limits: { rows: 100 } }
  return Engine.open({ dataDirectory: directory!, workers: 0, maintenance })
}

async function insert(experiment: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, i) => ({
    id: `${experiment === kept.id ? inserted + i : i}`,
    input: `text ${i} `.repeat(40),
    metadata: { i },
  }))
  const body = Buffer.from(JSON.stringify({ events }))
  const object = { type: 'experiment', id: experiment } as const
  await engine.insert({ body, form: 'events', object, view })
  if (experiment === kept.id) inserted += count
}

/** Throws unless all that was acknowledged is there, both counted and read. */
async function check(): Promise<void> {
  const query = `from: experiment('${kept.id}') | select: id, input, metadata.i as i`
  const result = await engine.query({ query, view, separator: '\n' })
  const found = new Set<string>()
  for await (const { bytes } of result.rows) {
    for (const line of Buffer.from(bytes).toString().split('\n')) {
      const { id, input, i } = JSON.parse(line) as { id: string; input: string; i: number }
      if (input !== `text ${i} `.repeat(40)) throw new Error(`record ${id} is wrong: ${line}`)
      found.add(id)
    }
  }
  if (found.size !== inserted) throw new Error(`${found.size} records in place of ${inserted}`)
}

const steps: Readonly<Record<string, { prepare(): Promise<unknown>; run(): Promise<unknown> }>> = {
  flush: { prepare: () => insert(kept.id, 40), run: () => engine.flush() },
  compact: {
    prepare: async () => {
      await insert(kept.id, 30)
      await engine.flush()
    },
    run: () => engine.compact(),
  },
  remove: {
    prepare: async () => {
      const { entry } = await view.findOrCreate('experiment', { project_id: project.id, name: 'x' })
      await insert(entry.id, 30)
      await engine.flush()
      await view.remove('experiment', entry.id)
    },
    run: () => engine.removeObjects(),
  },
}

let reopened = 0
const failed: Record<string, number> = {}
for (const [name, { prepare, run }] of Object.entries(steps)) {
  for (let call = 1, missed = 0; missed < 2 && call <= Number(most); call++) {
    await prepare()
    control.arm(call, fault)
    let thrown: unknown
    try {
      await run()
    } catch (error) {
      thrown = error
    }
    const seen = control.disarm()
    if (seen.failed === 0) {
      if (thrown !== undefined) throw thrown
      missed++
      continue
    }
    failed[name] = (failed[name] ?? 0) + 1
    const isTold = thrown instanceof AssayError && thrown.code === 'STORAGE_UNAVAILABLE'
    if (thrown !== undefined && !isTold) {
      throw new Error(`${name}: call ${call}, ${seen.last}`, { cause: thrown })
    }
    if (engine.mustReopen()) {
      reopened++
      await engine.close()
      engine = await open()
      view = await ownerGate(engine.catalog)
    }
    await check()
    await run()
    await check()
  }
}
await engine.close()
process.stdout.write(`${JSON.stringify({ ...failed, reopened })}\n`)
process.exit()
