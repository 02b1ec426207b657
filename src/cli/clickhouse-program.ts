import type { Command } from 'commander'
import type { ClickHouseRestoreFlags } from './clickhouse/restore.ts'
import type { VerifyFlags } from './clickhouse/verify.ts'
import { addClickHouseOptions } from './clickhouse-options.ts'

/** Declares `assay clickhouse`. */
export function addClickHouse(program: Command): void {
  const clickhouse = program
    .command('clickhouse')
    .description('compare a data directory with what was exported to ClickHouse, or make one of it')
  const verify = clickhouse
    .command('verify')
    .description('compare counts and hashes of all row versions, and tell which ranges differ')
    .option('--data-dir <directory>', 'where the data is (ASSAY_DATA_DIR; default: ./data)')
    .option('--repair', 'send what differs again; the service must not run')
    .option(
      '--take-over',
      'with --repair, go on with a database whose clickhouse.json the data directory has lost',
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 all is the same, or was repaired; 1 something differs; 2 it could not be compared.',
    )
    .action(async (flags: VerifyFlags) =>
      (await import('./clickhouse/verify.ts')).runVerifyExport(flags),
    )
  addClickHouseOptions(verify)
  const restore = clickhouse
    .command('restore')
    .description('make a data directory from what was exported, for a service that is not running')
    .option('--data-dir <directory>', 'a folder that is empty or not there')
    .action(async (flags: ClickHouseRestoreFlags) =>
      (await import('./clickhouse/restore.ts')).runRestoreExport(flags),
    )
  addClickHouseOptions(restore)
}
