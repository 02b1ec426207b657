import type { Command } from 'commander'

/** Flags of `assay serve` that say which records are read of ClickHouse. */
export function addHotOptions(command: Command): void {
  command
    .option(
      '--hot-days <days>',
      'with --clickhouse: records that were written earlier are read there; 0: all that have arrived (ASSAY_HOT_DAYS)',
    )
    .option(
      '--hot-bytes <bytes>',
      'with --clickhouse: records beyond the newest segments of so many bytes are read there (ASSAY_HOT_BYTES)',
    )
}

/** Flags of `assay serve` that say where transactions are exported to. */
export function addClickHouseOptions(command: Command): void {
  command
    .option(
      '--clickhouse <urls>',
      'HTTP interface of ClickHouse that all records are exported to, or of several nodes with commas between them (ASSAY_CLICKHOUSE)',
    )
    .option(
      '--clickhouse-user <name>',
      'who writes there; ASSAY_CLICKHOUSE_PASSWORD has the password (ASSAY_CLICKHOUSE_USER; default: default)',
    )
    .option(
      '--clickhouse-database <name>',
      'which is this service’s alone (ASSAY_CLICKHOUSE_DATABASE; default: assay)',
    )
    .option(
      '--clickhouse-cluster <name>',
      'of the nodes’ remote_servers (ASSAY_CLICKHOUSE_CLUSTER; default: one server alone)',
    )
    .option(
      '--clickhouse-ca-file <file>',
      'PEM of the authority of the nodes’ certificates (ASSAY_CLICKHOUSE_CA_FILE; default: those that the system trusts)',
    )
}
