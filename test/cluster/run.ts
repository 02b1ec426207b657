/** `npm run cluster -- up --shards 2 --replicas 2`: a cluster of ClickHouse to try things with; `down` ends it. */
import { parseArgs } from 'node:util'
import { Cluster, clusterName, missingForCluster } from './cluster.ts'

const usage = `npm run cluster -- up|down|kill|start|cut|join [options]

  up --shards N --replicas N   starts an empty cluster                     (2, 2)
  down                         ends it and removes what it stored
  kill, start, cut, join       with --node N: does that to one node
  --number N                   one of several clusters, from 1 to 200      (1)`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shards: { type: 'string', default: '2' },
    replicas: { type: 'string', default: '2' },
    number: { type: 'string', default: '1' },
    node: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const number = whole('number', values.number, 200)
const [command] = positionals
if (values.help || command === undefined) console.log(usage)
else await run(command)

async function run(command: string): Promise<void> {
  const missing = missingForCluster()
  if (missing !== undefined) fail(`a cluster cannot be started: this machine lacks ${missing}`)
  if (command === 'up') return up()
  const cluster = Cluster.find(number) ?? fail(`there is no cluster ${number}`)
  if (command === 'down') return cluster.down()
  const node = whole('node', values.node ?? '', cluster.nodes.length)
  if (command === 'kill') await cluster.kill(node)
  else if (command === 'start') await cluster.start(node)
  else if (command === 'cut') cluster.cut(node)
  else if (command === 'join') cluster.join(node)
  else fail(usage)
}

async function up(): Promise<void> {
  const size = {
    shards: whole('shards', values.shards, 50),
    replicas: whole('replicas', values.replicas, 4),
  }
  const cluster = await Cluster.up({ ...size, number })
  for (const node of cluster.nodes) {
    const shard = Math.ceil(node / cluster.replicas)
    console.log(`node ${node}, shard ${shard}: ${cluster.urlOf(node)}`)
  }
  console.log(`assay serve --clickhouse ${cluster.urlOf(1)} --clickhouse-cluster ${clusterName}`)
}

function whole(name: string, text: string, most: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value
  return fail(`--${name} must be a whole number from 1 to ${most}`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
