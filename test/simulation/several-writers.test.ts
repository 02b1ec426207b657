/**
 * Several nodes write one project, in a simulation where messages are lost and late, links are cut, and nodes and replicas
 * stop, pause and begin anew. What was acknowledged is there exactly once, and reads only grow.
 */
import { expect, test } from 'vitest'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { Keeper, NotHome, Replica, type Rule, rules, WriterNode } from './several-writers.ts'
import { Host, Simulation } from './simulation.ts'

const runs = isSlow ? 5000 : 60
const [clientCount, insertsOfClient] = [4, 8]
const faultsEnd = 4000
const end = 12_000

test(`nothing acknowledged is lost or doubled in ${runs} runs`, {
  timeout: 3_600_000,
}, async () => {
  const sum = { acknowledged: 0, reads: 0, epochs: 0 }
  for (let run = 0; run < runs; run++) {
    const { faults, ...counts } = await simulate(randomSeed + run, undefined)
    expect(faults, `seed ${randomSeed + run}`).toEqual([])
    sum.acknowledged += counts.acknowledged
    sum.reads += counts.reads
    sum.epochs += counts.epochs
  }
  console.log(
    `${runs} runs from seed ${randomSeed}: ${sum.acknowledged} inserts acknowledged, ${sum.reads} reads,`,
    `${sum.epochs} homes; lost 0, doubled 0`,
  )
  expect(sum.acknowledged).toBe(runs * clientCount * insertsOfClient)
  expect(sum.epochs).toBeGreaterThan(runs * 2)
})

test.each(rules)('without the rule to %s, something is lost, doubled or changes', async (rule) => {
  for (let run = 0; run < 400; run++) {
    const { faults } = await simulate(randomSeed + run, rule)
    if (faults.length > 0) return
  }
  expect.fail('nobody would notice that the rule is missing')
})

interface Outcome {
  readonly faults: readonly string[]
  readonly acknowledged: number
  readonly reads: number
  readonly epochs: number
}

async function simulate(seed: number, without: Rule | undefined): Promise<Outcome> {
  const simulation = new Simulation(seed)
  const keeper = new Keeper()
  const replicas = [1, 2, 3].map((number) => new Replica(`replica ${number}`))
  const nodes = [1, 2, 3].map(
    (number) => new WriterNode(`node ${number}`, simulation, keeper, replicas, without),
  )
  const faults: string[] = []
  const acknowledged = new Set<string>()
  let longest: readonly string[] = []
  let reads = 0

  const insertAll = async (client: Host) => {
    for (let i = 0; i < insertsOfClient; i++) {
      const insert = `${client.name}/${i}`
      let node = simulation.pick(nodes)
      while (!acknowledged.has(insert)) {
        const asked = node
        try {
          await simulation.call(client, asked, () => asked.insert(insert))
          acknowledged.add(insert)
        } catch (thrown) {
          const home =
            thrown instanceof NotHome && nodes.find(({ name }) => name === thrown.message)
          node = home || simulation.pick(nodes)
          await simulation.sleep(client, simulation.between(1, 30))
        }
      }
      await simulation.sleep(client, simulation.between(1, 100))
    }
  }

  const check = (found: readonly string[], before: ReadonlySet<string>) => {
    reads++
    if (new Set(found).size < found.length) faults.push(`doubled: ${found.join(' ')}`)
    for (const insert of before) if (!found.includes(insert)) faults.push(`lost: ${insert}`)
    const [shorter, longer] = found.length < longest.length ? [found, longest] : [longest, found]
    if (shorter.some((insert, i) => longer[i] !== insert)) {
      faults.push(`changed: ${shorter.join(' ')} is no beginning of ${longer.join(' ')}`)
    }
    longest = longer
  }

  const readNow = async (reader: Host, node: WriterNode) => {
    const before = new Set(acknowledged)
    const found = await simulation.call(reader, node, () => node.read())
    check(
      found.map(({ insert }) => insert),
      before,
    )
  }

  const readOn = async (reader: Host) => {
    while (true) {
      await readNow(reader, simulation.pick(nodes)).catch(() => undefined)
      await simulation.sleep(reader, simulation.between(20, 120))
    }
  }

  for (let i = 0; i < clientCount; i++) void insertAll(new Host(`client ${i}`))
  void readOn(new Host('reader'))
  void makeFaults(simulation, [...nodes, ...replicas], keeper)
  await simulation.run(end)
  return { faults, acknowledged: acknowledged.size, reads, epochs: keeper.lease.epoch }
}

/** Until all is mended. */
async function makeFaults(
  simulation: Simulation,
  hosts: readonly (WriterNode | Replica)[],
  keeper: Keeper,
): Promise<void> {
  const chaos = new Host('chaos')
  while (simulation.now < faultsEnd) {
    await simulation.sleep(chaos, simulation.between(5, 60))
    const host = simulation.pick(hosts)
    const other = simulation.pick([keeper, ...hosts])
    const lasts = simulation.between(20, 500)
    switch (simulation.pick(['stop', 'pause', 'cut', 'cut'])) {
      case 'stop':
        host.isUp = false
        simulation.after(lasts, () => begin(host))
        break
      case 'pause':
        host.pausedUntil = simulation.now + lasts
        break
      default:
        simulation.cut(host, other)
        simulation.after(lasts, () => simulation.mend(host, other))
    }
  }
  simulation.mendAll()
}

function begin(host: WriterNode | Replica): void {
  if (host instanceof WriterNode) {
    host.restart()
    return
  }
  host.isUp = true
  host.life++
}
