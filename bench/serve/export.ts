/** When an export begins, how fast it is, and what it holds meanwhile: `--only export`, see bench/README.md. */
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type OutputFormat, outputFormats } from '../../src/format/output-format.ts'
import { anonymousBytes } from '../peers/measure/process-status.ts'
import { Assay } from '../peers/systems/assay.ts'
import { formatMs, formatTable, median } from '../table.ts'

export interface ExportOptions {
  /** The built `main.js`. */
  readonly server: string
  /** Of the service that the peers' bench has loaded. */
  readonly directory: string
  readonly workers: number
  /** How often the first byte is waited for. */
  readonly runs: number
  /** Formats whose name has the text. */
  readonly filter: string
}

const slowSeconds = 20
/** Further slow readers, which tell what one holds: the first also makes the workers warm. */
const moreReaders = 20
const sampledMs = 50

export async function measureExports(options: ExportOptions): Promise<void> {
  const { server, directory, workers, runs, filter } = options
  const rows: string[][] = []
  for (const format of outputFormats) {
    if (!format.includes(filter)) continue
    // Each in a process of its own, which has held nothing before.
    const assay = await Assay.start({ server, directory, workers })
    try {
      const first = await firstBytes(assay, format, runs)
      const before = anonymousBytes(assay.process.pid)
      const slow = await readSlowly(assay, format)
      const fast = await readAll(assay, format)
      const row = [
        format,
        formatMs(median(first)),
        formatMs(Math.max(...first)),
        formatMs(fast.ms / 1000),
        (fast.bytes / 1e6).toFixed(0),
        megabytes(before),
        megabytes(slow.peakBytes - before),
        ((slow.moreBytes - slow.peakBytes) / moreReaders / 2 ** 20).toFixed(1),
        formatMs(slow.countMs),
        ...fast.peaks.map(megabytes),
      ]
      rows.push(row)
      process.stdout.write(`${row.join('  ')}\n`)
    } finally {
      await assay.close()
    }
  }
  const quarters = ['first quarter', 'second', 'third', 'last']
  const head = [
    '',
    'first byte ms',
    'most',
    'all s',
    'MB',
    'RssAnon',
    '1 KB/s',
    'each of 20',
    'count ms',
  ]
  process.stdout.write(`\n${formatTable([[...head, ...quarters], ...rows])}\n`)
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}

/** Milliseconds until the first byte of an answer that is then left. */
async function firstBytes(assay: Assay, format: OutputFormat, runs: number): Promise<number[]> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const started = performance.now()
    const socket = await ask(assay, format)
    await new Promise((resolve) => socket.once('data', resolve))
    times.push(performance.now() - started)
    socket.resetAndDestroy()
    await wait(500)
  }
  return times
}

/**
 * Readers of a kilobyte a second, one and then some more: the most that the process holds beside either, and the time
 * that a count takes beside all of them.
 */
async function readSlowly(assay: Assay, format: OutputFormat) {
  const sockets = [await askSlowly(assay, format)]
  const { peakBytes } = await whileReading(assay, sockets)
  for (let i = 0; i < moreReaders; i++) sockets.push(await askSlowly(assay, format))
  const { peakBytes: moreBytes, countMs } = await whileReading(assay, sockets)
  for (const socket of sockets) socket.resetAndDestroy()
  return { peakBytes, moreBytes, countMs }
}

async function askSlowly(assay: Assay, format: OutputFormat): Promise<Socket> {
  const socket = await ask(assay, format)
  socket.pause()
  return socket
}

async function whileReading(assay: Assay, sockets: readonly Socket[]) {
  const count = `measures: count(1) as n | from: project_logs('${assay.projectId}') | filter: metrics.tokens > 100`
  const times: number[] = []
  let peakBytes = 0
  const end = performance.now() + slowSeconds * 1000
  while (performance.now() < end) {
    for (const socket of sockets) socket.read(1024)
    const started = performance.now()
    await assay.client.postJson('/btql', { query: count, use_columnstore: true })
    times.push(performance.now() - started)
    peakBytes = Math.max(peakBytes, anonymousBytes(assay.process.pid))
    await wait(1000 - (performance.now() - started))
  }
  return { peakBytes, countMs: median(times) }
}

/** All of it as fast as it comes; the most that the process has held in each quarter of the time. */
async function readAll(assay: Assay, format: OutputFormat) {
  const started = performance.now()
  const socket = await ask(assay, format)
  let bytes = 0
  socket.on('data', (data) => {
    bytes += data.length
  })
  const samples: number[] = []
  const timer = setInterval(() => samples.push(anonymousBytes(assay.process.pid)), sampledMs)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(timer)
  const quarter = Math.ceil(samples.length / 4)
  const peaks = [0, 1, 2, 3].map((part) => {
    return Math.max(...samples.slice(part * quarter, (part + 1) * quarter))
  })
  return { ms: performance.now() - started, bytes, peaks }
}

function ask(assay: Assay, fmt: OutputFormat): Promise<Socket> {
  const { hostname, port } = new URL(assay.process.url)
  const body = JSON.stringify({
    query: `select: * | from: project_logs('${assay.projectId}')`,
    fmt,
  })
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.off('error', reject)
      socket.on('error', () => undefined)
      socket.write(
        `POST /btql HTTP/1.1\r\nhost: x\r\nauthorization: ${assay.client.authorization}\r\n` +
          `connection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      )
      resolve(socket)
    })
    socket.once('error', reject)
  })
}
