import { Command, Option } from 'commander'
import type { ConfigFlags } from '../config.ts'
import { importFormats } from '../import/file-format.ts'
import { version } from '../server/version.ts'
import { addAdministration } from './admin-program.ts'
import { addBackup } from './backup-program.ts'
import type { CheckFlags } from './check.ts'
import { addClickHouseOptions, addHotOptions } from './clickhouse-options.ts'
import { addClickHouse } from './clickhouse-program.ts'
import type { DemoFlags } from './demo.ts'
import { addExportOptions } from './export-options.ts'
import type { ImportOptions } from './import.ts'
import type { QueryOptions } from './query.ts'
import { addSignInOptions } from './sign-in-options.ts'
import type { StatusOptions } from './status.ts'
import { checkSystemLimits } from './system-limits.ts'

const defaultUrl = 'http://127.0.0.1:8000'

/**
 * The command line: commands, their flags and their help. What a command does is loaded when it is
 * run, so that a query need not wait for the whole service to load.
 */
export function createProgram(): Command {
  const program = new Command('assay')
    .description('Query service for the records of evaluating and monitoring LLM applications')
    .version(version)
    .showHelpAfterError('(add --help for what there is)')
    .exitOverride()
  addServe(program)
  addImport(program)
  addQuery(program)
  addStatus(program)
  addCheck(program)
  addBackup(program, addConnection)
  addClickHouse(program)
  addDemo(program)
  addAdministration(program, addConnection)
  return program
}

function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('serve the HTTP API')
    .option('--host <address>', 'address to listen on (ASSAY_HOST; default: 127.0.0.1)')
    .option('--port <number>', 'port to listen on, 0 for any (ASSAY_PORT; default: 8000)')
    .option(
      '--http-server <name>',
      'auto, uwebsockets or node: what takes requests (ASSAY_HTTP_SERVER; default: auto, uwebsockets where it loads)',
    )
    .option(
      '--otlp-grpc-port <number>',
      'port of OTLP over gRPC, off for none (ASSAY_OTLP_GRPC_PORT; default: 4317 if it is free)',
    )
    .option('--data-dir <directory>', 'where the data is (ASSAY_DATA_DIR; default: ./data)')
    .option(
      '--home <url>',
      'be a query node that follows the service there; ASSAY_HOME_KEY has its key, and the data directory is a cache (ASSAY_HOME)',
    )
    .option('--workers <count>', 'query threads, 0 for none (ASSAY_WORKERS; default: all cores)')
    .option('--log-level <level>', 'least level logged (ASSAY_LOG_LEVEL; default: info)')
    .option(
      '--max-body-bytes <count>',
      'largest request body (ASSAY_MAX_BODY_BYTES; default: 536870912)',
    )
    .option(
      '--public-url <url>',
      'base of the URLs in answers (ASSAY_PUBLIC_URL; default: as the client reached it)',
    )
    .option(
      '--trust-proxy [count]',
      'proxies before the service whose X-Forwarded-… headers count (ASSAY_TRUST_PROXY; default: 0, or 1 without a count)',
    )
    .option(
      '--max-running-queries <count>',
      'queries at work on the threads at a time (ASSAY_MAX_RUNNING_QUERIES; default: 32)',
    )
    .option(
      '--max-queued-queries <count>',
      'queries that may wait for them (ASSAY_MAX_QUEUED_QUERIES; default: 4096)',
    )
    .option(
      '--max-query-seconds <seconds>',
      'longest time of a query, 0 for any (ASSAY_MAX_QUERY_SECONDS; default: 0)',
    )
    .option(
      '--query-memory-mb <count>',
      'what a query may hold (ASSAY_QUERY_MEMORY_MB; default: a quarter of the memory)',
    )
    .option(
      '--total-query-memory-mb <count>',
      'what all may hold (ASSAY_TOTAL_QUERY_MEMORY_MB; default: half of the memory)',
    )
    .option(
      '--max-queries-per-key <count>',
      'of a key at once, 0 for any number (ASSAY_MAX_QUERIES_PER_KEY; default: 0)',
    )
    .option(
      '--max-queries-per-organization <count>',
      'of an organization at once (ASSAY_MAX_QUERIES_PER_ORGANIZATION; default: 0)',
    )
    .option(
      '--max-requests-per-minute-per-key <count>',
      '0 for any number (ASSAY_MAX_REQUESTS_PER_MINUTE_PER_KEY; default: 0)',
    )
    .option(
      '--max-requests-per-minute-per-organization <count>',
      '0 for any number (ASSAY_MAX_REQUESTS_PER_MINUTE_PER_ORGANIZATION; default: 0)',
    )
    .option(
      '--slow-query-ms <milliseconds>',
      'queries that take longer are logged with their plans, 0 for none (ASSAY_SLOW_QUERY_MS; default: 5000)',
    )
    .option(
      '--kept-answers-mb <count>',
      'of short answers that are given again while nothing has changed, 0 for none (ASSAY_KEPT_ANSWERS_MB; default: 16)',
    )
    .option(
      '--row-cache-mb <count>',
      'of what is kept in memory to look records up (ASSAY_ROW_CACHE_MB; default: 128)',
    )
    .option(
      '--async-result-hours <count>',
      'how long results of async queries are kept (ASSAY_ASYNC_RESULT_HOURS; default: 24)',
    )
    .option(
      '--async-results-mb <count>',
      'what they may take together (ASSAY_ASYNC_RESULTS_MB; default: 10240)',
    )
    .option(
      '--min-free-mb <count>',
      'what is left free of the disk: below it nothing that grows is taken; 0 for any (ASSAY_MIN_FREE_MB; default: 512, or a twentieth of a small disk)',
    )
    .option(
      '--warm-up <seconds>',
      'time for typical queries after a start and a first load, so that the first ones are fast; 0 for none (ASSAY_WARM_UP; default: 4)',
    )
    .option(
      '--forget-secrets',
      'start although the key opens none of the stored secrets, which have to be written again',
    )
    .option(
      '--scrub-mb-per-second <count>',
      'how fast all that is stored is read once a week to find damage, while nobody asks; 0: not (ASSAY_SCRUB_MB_PER_SECOND; default: 2)',
    )
    .option('--prices <file>', 'JSON of what models cost, for estimated_cost() (ASSAY_PRICES)')
    .addHelpText(
      'after',
      '\nASSAY_BOOTSTRAP_KEY is the first owner’s API key, or ASSAY_BOOTSTRAP_KEY_FILE a file with it; without it, one is made up.',
    )
    .action(async (flags: ConfigFlags) => {
      checkSystemLimits()
      await (await import('./serve.ts')).runServe(flags)
    })
  addClickHouseOptions(command)
  addHotOptions(command)
  addExportOptions(command)
  addSignInOptions(command)
}

function addImport(program: Command): void {
  const command = program
    .command('import')
    .description(
      'import records from files: JSON lines, a JSON array, CSV or Arrow, plain or gzip, or Parquet',
    )
    .argument('<file...>', 'files, or - for standard input; with --from-url, objects')
    .requiredOption('--project <name>', 'project to import to; made if it is not there')
    .option('--experiment <name>', 'experiment of the project to import to')
    .option('--dataset <name>', 'dataset of the project to import to')
    .option('--logs', 'import to the project’s logs')
    .addOption(
      new Option('--format <format>', 'instead of what the files are called').choices(
        importFormats,
      ),
    )
    .option('--delimiter <character>', 'of CSV, or "tab" (default: found)')
    .option('--escaped-formulas', 'of CSV that was exported with --escape-formulas')
    .option(
      '--encoding <name>',
      'of JSON and CSV: windows-1252, utf-16le, shift_jis, … (default: by its mark, or UTF-8)',
    )
    .option(
      '--types <types>',
      'what texts of tables are taken for: usual, text, auto, number, boolean or json, for all columns or one by one, as in auto,zip=text (default: usual)',
    )
    .option(
      '--from-url <address>',
      'another service to read from: experiment:<id>, dataset:<id>, …',
    )
    .option('--from-key <key>', 'its API key (ASSAY_FROM_KEY)')
    .option(
      '--state <file>',
      'remembers how far a long import has come (default: .assay-import.json)',
    )
    .addHelpText(
      'after',
      '\nRecords keep their "id"; those without one get one that stays the same, so that an import\n' +
        'can be repeated; after a failure, the same command goes on where it was. Lines that are no\n' +
        'records are reported and left out.\n\n' +
        'A cell of CSV is a text, unless it is an object, an array or a text in quotes of JSON; with\n' +
        '--types auto a number, true or false without quotes is that, too, if JSON writes it so: 007 is\n' +
        'a text. Columns such as metadata.model go into the object; scores and metrics are numbers,\n' +
        'metadata and the like JSON, and tags may have commas between them.',
    )
    .action(async (paths: string[], options: ImportOptions) =>
      (await import('./import.ts')).runImport(paths, options),
    )
  addConnection(command)
}

function addQuery(program: Command): void {
  const command = program
    .command('query')
    .description('run a query: a table on a terminal, otherwise JSON lines, or a file')
    .argument('<query>', 'the query, or - to read it from standard input')
    .option('--explain', 'show the plan instead of running the query')
    .option('--analyze', 'run the query and show what each operator of its plan did')
    .option('--from <source>', 'run the query as a filter on this source: "experiment(\'<id>\')"')
    .option('--project <name>', 'what sources without an id are of, by name or id: project_logs()')
    .option('--tz-offset <minutes>', 'minutes behind UTC, for buckets of time')
    .option('--version-id <transaction>', 'read the data as of this transaction')
    .option('--format <name>', 'json, jsonl, csv, parquet or arrow; by the ending of --output')
    .option(
      '--escape-formulas',
      'of CSV: an apostrophe before texts that spreadsheets take for formulas',
    )
    .option('--output <file>', 'write the answer to this file')
    .action(async (query: string, options: QueryOptions) =>
      (await import('./query.ts')).runQuery(query, options),
    )
  addConnection(command)
}

function addStatus(program: Command): void {
  const command = program
    .command('status')
    .description('tell how a running service is: how much is where, the export, backups, warnings')
    .option('--json', 'the same as JSON, as it is where standard output is no terminal')
    .addHelpText(
      'after',
      '\nExit codes: 0 all is well; 1 the service warns of something, or cannot be asked.',
    )
    .action(async (options: StatusOptions) => (await import('./status.ts')).runStatus(options))
  addConnection(command)
}

function addCheck(program: Command): void {
  const command = program
    .command('check')
    .description('read all of a data directory that no service has open, and tell what is damaged')
    .option(
      '--data-dir <directory>',
      'where the data is (ASSAY_DATA_DIR)',
      process.env.ASSAY_DATA_DIR || './data',
    )
    .option(
      '--repair',
      'make again what follows from the rest, and move what is stored of damaged values to a file of the directory',
    )
    .addHelpText(
      'after',
      '\nWithout --repair nothing is changed. Exit codes: 0 all is whole, or was made again; 1 something is\n' +
        'damaged, or records were lost; 2 it could not be checked. ClickHouse is asked for ids alone, where they are damaged\n' +
        'and it alone has older records.',
    )
    .action(async (flags: CheckFlags) => (await import('./check.ts')).runCheck(flags))
  addClickHouseOptions(command)
}

function addDemo(program: Command): void {
  program
    .command('demo')
    .description('serve about 100,000 generated records and show some queries')
    .option('--port <number>', 'port to listen on; the next free one if it is taken', '8000')
    .option('--data-dir <directory>', 'where the data is', './data/demo')
    .action(async (flags: DemoFlags) => {
      checkSystemLimits()
      await (await import('./demo.ts')).runDemo(flags)
    })
}

function addConnection(command: Command): void {
  command
    .option('--url <address>', 'the service (ASSAY_URL)', process.env.ASSAY_URL || defaultUrl)
    .option('--key <key>', 'API key (ASSAY_API_KEY)')
    .hook('preAction', (_, action) => {
      if (action.getOptionValue('key') === undefined) {
        action.setOptionValue('key', process.env.ASSAY_API_KEY)
      }
    })
}
