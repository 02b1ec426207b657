/** `assay status`: how a running service is, and how much is where. */
import { writeExactJson } from '../type/exact-json.ts'
import { Client, type ConnectionOptions } from './client.ts'
import { counted } from './counted.ts'

export interface StatusOptions extends ConnectionOptions {
  readonly json?: boolean
}

/** Of what `GET /admin/status` answers, what is shown. */
export interface ServiceStatus {
  readonly version: string
  readonly transaction: string
  readonly storage: {
    readonly hot: {
      readonly rows: number
      /** By environment. */
      readonly disk_bytes: Readonly<Record<string, number>>
    }
    readonly cold: {
      readonly through: string | null
      readonly rows: number
      readonly freed_bytes: number
      readonly fault: string | null
    }
  }
  readonly export: {
    readonly state: string
    readonly database: string
    readonly lag: {
      readonly transactions: number
      readonly rows: number
      readonly seconds: number
    }
    readonly fault: { readonly message: string; readonly since: string } | null
  } | null
  readonly backup: { readonly last: string | null; readonly kind: string | null }
  readonly warnings: readonly string[]
}

/** Ends with 1 if the service warns of something, or some of its work has a fault. */
export async function runStatus(options: StatusOptions): Promise<void> {
  const answer = await new Client(options).request('GET', '/admin/status')
  const status = answer as unknown as ServiceStatus
  const isJson = options.json || !process.stdout.isTTY
  const lines = isJson ? [writeExactJson(answer)] : linesOf(status)
  for (const line of lines) process.stdout.write(`${line}\n`)
  if (troublesOf(status).length > 0) process.exitCode = 1
}

/** As a person reads it. */
export function linesOf(status: ServiceStatus): string[] {
  const { hot, cold } = status.storage
  const diskBytes = Object.values(hot.disk_bytes).reduce((sum, bytes) => sum + bytes, 0)
  const parts: [name: string, text: string][] = [
    ['version', status.version],
    ['transaction', status.transaction],
    ['here', `${counted(hot.rows, 'row')}, ${megabytes(diskBytes)} on disk`],
  ]
  if (cold.through !== null) {
    const freed = `${megabytes(cold.freed_bytes)} freed here`
    const rows = counted(cold.rows, 'row version')
    parts.push(['ClickHouse alone', `${rows} up to ${cold.through}, ${freed}`])
  }
  if (status.export) parts.push(['export', exportText(status.export)])
  const { last, kind } = status.backup
  parts.push(['last backup', last === null ? 'none' : `${last} (${kind})`])
  const width = Math.max(...parts.map(([name]) => name.length))
  return [
    ...parts.map(([name, text]) => `${name.padEnd(width)}  ${text}`),
    ...troublesOf(status).map((trouble) => `! ${trouble}`),
  ]
}

function exportText({ state, database, lag }: NonNullable<ServiceStatus['export']>): string {
  if (lag.transactions === 0) return `${state}, ${database} has all`
  const seconds = Math.ceil(lag.seconds).toLocaleString('en')
  return `${state}, ${database} lacks ${counted(lag.rows, 'row version')}, the oldest of ${seconds} s ago`
}

function troublesOf({ storage, warnings, export: exported }: ServiceStatus): string[] {
  const { fault } = storage.cold
  return [
    ...warnings,
    ...(exported?.fault
      ? [`the export waits since ${exported.fault.since}: ${exported.fault.message}`]
      : []),
    ...(fault === null ? [] : [`older records stay on the disk: ${fault}`]),
  ]
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 1 })} MB`
}
