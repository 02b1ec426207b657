import { ClickHouseCluster } from '../../clickhouse/cluster.ts'
import { ExportFault } from '../../clickhouse/fault.ts'
import type { ClickHouseSettings } from '../../clickhouse/settings.ts'
import { type ConfigFlags, readConfig } from '../../config.ts'
import { AssayError } from '../../error.ts'

export interface ExportTarget {
  readonly settings: ClickHouseSettings
  readonly directory: string
}

/** Reads flags and the environment as `assay serve` does. */
export function readTarget(flags: ConfigFlags): ExportTarget {
  const { clickhouse, dataDirectory } = readConfig(flags, process.env)
  if (!clickhouse) {
    throw new AssayError('COMMAND_INVALID', 'no ClickHouse; give one with --clickhouse')
  }
  return { settings: clickhouse, directory: dataDirectory }
}

/** Gives the cluster to `work`, whose faults are told as those of a command. */
export async function withCluster<Result>(
  settings: ClickHouseSettings,
  work: (cluster: ClickHouseCluster) => Promise<Result>,
): Promise<Result> {
  let cluster: ClickHouseCluster | undefined
  try {
    cluster = await ClickHouseCluster.open(settings, new AbortController().signal)
    return await work(cluster)
  } catch (thrown) {
    if (!(thrown instanceof ExportFault)) throw thrown
    throw new AssayError('COMMAND_INVALID', thrown.message, { cause: thrown })
  } finally {
    await cluster?.close()
  }
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
