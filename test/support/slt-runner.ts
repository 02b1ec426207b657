/** Runs the blocks of golden files against a real engine, in one of several states of storage. */
import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Gate } from '../../src/access/gate.ts'
import type { ClickHouseSettings } from '../../src/clickhouse/settings.ts'
import { Engine, type QueryRequest, type QueryResult } from '../../src/engine.ts'
import { type AssayError, toAssayError } from '../../src/error.ts'
import type { PriceTable } from '../../src/function/prices.ts'
import { renderError, type ShownError } from '../../src/parser/error-location.ts'
import { parseQuery } from '../../src/parser/parse.ts'
import { printAst } from '../../src/parser/print-ast.ts'
import { printTokens } from '../../src/parser/print-tokens.ts'
import type { ObjectReference, ObjectType } from '../../src/type/record.ts'
import { parseTransaction } from '../../src/type/transaction.ts'
import { type Cluster, clusterName } from '../cluster/cluster.ts'
import { ClusterScans } from './cluster-scans.ts'
import { type GoldenFile, isExpected } from './golden-file.ts'
import { expectNoReads } from './open-reads.ts'
import { ownerGate } from './owner-gate.ts'
import { argumentsOf, type Block, optionOf } from './slt.ts'
import { type Answer, askService, printAnswer, readAnswer, requestOf } from './slt-answer.ts'
import { formsOf, type QueryForm } from './slt-form.ts'
import { completeRow } from './slt-row.ts'
import { SourceNames } from './slt-source.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

/**
 * Where the rows of a file are when it is asked. `delta`: nowhere but in the row store. `segment`:
 * in one segment. `tiny`: in segments of two rows. `compacted`: those merged again, after a restart.
 */
export const storageStates = ['delta', 'segment', 'tiny', 'compacted'] as const
/**
 * Those that need a cluster of ClickHouse. `exported`: it alone has the bodies of all rows. `half`: queries ask it for the first half of
 * what was inserted last, and for all that was inserted before.
 */
export const clusterStates = ['exported', 'half'] as const
export type StorageState = (typeof storageStates)[number] | (typeof clusterStates)[number]

export interface GoldenSetup {
  readonly state: StorageState
  readonly workers: number
  /** Of states that need one. */
  readonly cluster?: Cluster | undefined
  /** The built-in ones when undefined. */
  readonly prices?: PriceTable | undefined
}

interface GoldenClock {
  /** In ms since 1970; undefined while time goes by. */
  now: number | undefined
  /** In the state `half`, rows of later transactions are hot. */
  hotAfter: number
}

/** An engine that many golden files share; each has a project of its own in it. */
export class GoldenStore {
  readonly setup: GoldenSetup
  readonly clock: GoldenClock
  /** What the cluster has made, in states that have one. */
  readonly scans = new ClusterScans()
  directory: string
  engine: Engine
  gate: Gate

  private constructor(
    setup: GoldenSetup,
    directory: string,
    { engine, clock, gate }: { engine: Engine; clock: GoldenClock; gate: Gate },
  ) {
    this.setup = setup
    this.clock = clock
    this.directory = directory
    this.engine = engine
    this.gate = gate
  }

  static async open(setup: GoldenSetup): Promise<GoldenStore> {
    const directory = await makeTemporaryDirectory('golden')
    const clock: GoldenClock = { now: undefined, hotAfter: 0 }
    const engine = await openEngine(directory, setup, clock)
    const gate = await gateOf(engine)
    return new GoldenStore(setup, directory, { engine, clock, gate })
  }

  /** Over another data directory, which has the same rows. The engine must be closed. */
  async reopenOver(directory: string): Promise<void> {
    this.directory = directory
    this.engine = await openEngine(directory, this.setup, this.clock)
    this.gate = await gateOf(this.engine)
  }

  async reopen(): Promise<void> {
    await this.engine.close()
    this.engine = await openEngine(this.directory, this.setup, this.clock)
    this.gate = await gateOf(this.engine)
  }

  /** Brings what was written into the state that the setup asks for. */
  async settle(): Promise<void> {
    const { setup, engine } = this
    if (setup.state !== 'delta') await engine.flush()
    if (setup.cluster) await this.#exported()
    if (setup.state === 'exported') await this.#evicted()
    if (setup.state === 'compacted') await engine.compact()
  }

  /** Resolves when the cluster has all rows. */
  async #exported(): Promise<void> {
    const last = parseTransaction(this.engine.lastTransactionId())
    while (this.engine.export!.through < last) {
      const { fault } = this.engine.export!
      if (fault) throw new Error(fault.message)
      await wait(2)
    }
  }

  /** Resolves when bodies are on the cluster alone. */
  async #evicted(): Promise<void> {
    await this.engine.evict()
    const { through } = this.engine.cold!
    const last = parseTransaction(this.engine.lastTransactionId())
    if (through < last) throw new Error(`bodies of ${last} are here, after ${through} have left`)
  }

  async close(): Promise<void> {
    await expectNoReads(this.directory)
    await this.engine.close()
    await rm(this.directory, { recursive: true, force: true })
  }
}

/** Rows move between the states of storage when we say so and not before. */
function openEngine(
  dataDirectory: string,
  { state, workers, cluster, prices }: GoldenSetup,
  clock: GoldenClock,
): Promise<Engine> {
  const now = () => clock.now ?? Date.now()
  const options = { dataDirectory, workers, now, prices, maintenance: { automatic: false } }
  if (!cluster) return Engine.open(options)
  const hot = state === 'half' ? { after: () => clock.hotAfter } : { days: 0 }
  return Engine.open({ ...options, hot, clickhouse: clickHouseOf(cluster, dataDirectory) })
}

/** A database of its own for each directory. */
function clickHouseOf(cluster: Cluster, directory: string): ClickHouseSettings {
  return {
    urls: [cluster.urlOf(1)],
    user: 'default',
    password: '',
    database: basename(directory).replaceAll(/\W/g, '_'),
    cluster: clusterName,
    authority: undefined,
  }
}

function gateOf(engine: Engine): Promise<Gate> {
  return ownerGate(engine.catalog, 'golden')
}

/** How many rows of an insert are written and flushed together. */
export function rowsPerRequest({ state }: GoldenSetup, rowCount: number): number {
  if (state === 'tiny') return 2
  return state === 'compacted' || state === 'half' ? Math.max(1, Math.ceil(rowCount / 2)) : rowCount
}

/** Settings that `control KEY VALUE` changes and `control KEY none` takes back. */
interface Settings {
  /** Minutes behind UTC. */
  tz_offset?: string
  /** Name of an object that was made: the project of the requests. */
  project?: string
  /** The name that an insert got by `as NAME`: queries see the data as of then. */
  version?: string
  columnstore?: string
  /** A source: queries are single expressions to filter it by. */
  from?: string
  /** The one storage state that the file is for. */
  state?: string
  /** The time that it is. */
  now?: string
}

const settingNames = [
  'tz_offset',
  'version',
  'columnstore',
  'from',
  'state',
  'now',
  'project',
] as const

const cursorPattern = /<slt:cursor (\w+)>/g

export class GoldenRun {
  readonly #store: GoldenStore
  readonly #name: string
  readonly #sources = new SourceNames()
  readonly #versions = new Map<string, string>()
  readonly #cursors = new Map<string, string>()
  readonly #settings: Settings = {}
  #projectId: string | undefined
  #rowCount = 0
  #unflushed = false

  /** `name` is unique in the store. */
  constructor(store: GoldenStore, name: string) {
    this.#store = store
    this.#name = name
  }

  /** The lines that a block gives; undefined when it gives none or is not for this setup. */
  async run(block: Block): Promise<string[] | undefined> {
    const { now } = this.#settings
    this.#store.clock.now = now === undefined ? undefined : Date.parse(now)
    switch (block.kind) {
      case 'comment':
        return undefined
      case 'commands':
        for (const command of block.header) await this.#command(command.split(/\s+/))
        return undefined
      case 'insert':
        return this.#insert(block)
      case 'query':
      case 'request':
      case 'error':
        if (!this.#isForThisState()) return undefined
        await this.settle()
        return this.#answer(block)
      case 'explain':
        if (!this.#isForThisState() || !this.#isPlain()) return undefined
        await this.settle()
        return this.#explain(block)
    }
  }

  /**
   * The lines that a query gives in every form that it can be written in. One setup is enough for
   * that, the fastest.
   */
  async runForms(block: Block): Promise<{ form: QueryForm; actual: string[] }[]> {
    const { state, workers } = this.#store.setup
    if (block.kind !== 'query' || state !== 'delta' || workers > 0) return []
    const { from, ...request } = this.#request(block.body.join('\n'))
    const results: { form: QueryForm; actual: string[] }[] = []
    for (const form of formsOf(request.query, from)) {
      const answer = this.#ask({ ...request, query: form.query })
      results.push({ form, actual: await this.#linesOf(block, form.text, answer) })
    }
    return results
  }

  /** Asks a query once more; `more` says how. */
  async ask(block: Block, more: Pick<QueryRequest, 'format' | 'separator'>): Promise<QueryResult> {
    await this.settle()
    return this.#store.engine.query({ ...this.#request(block.body.join('\n')), ...more })
  }

  /** See `GoldenStore`. */
  async settle(): Promise<void> {
    if (!this.#unflushed) return
    this.#unflushed = false
    await this.#store.settle()
  }

  async #command([name, key, ...rest]: string[]): Promise<void> {
    if (name === 'flush') return this.#store.engine.flush()
    if (name === 'compact') return this.#store.engine.compact()
    if (name === 'reopen') return this.#store.reopen()
    const setting = settingNames.find((candidate) => candidate === key)
    if (!setting) throw new Error(`there is no setting "${key}"`)
    if (rest.join(' ') === 'none') delete this.#settings[setting]
    else this.#settings[setting] = rest.join(' ')
  }

  async #insert(block: Block): Promise<string[] | undefined> {
    const [type, name, as, version] = argumentsOf(block)
    const object = await this.#object(type as ObjectType, name!)
    const rows = block.body.map((line) => completeRow(line, () => ++this.#rowCount))
    const size = block.expected ? rows.length : rowsPerRequest(this.#store.setup, rows.length)
    try {
      for (let start = 0; start < rows.length; start += size) {
        const body = Buffer.from(`{"events":[${rows.slice(start, start + size).join(',')}]}`)
        const view = this.#store.gate
        const result = await this.#store.engine.insert({ body, form: 'events', object, view })
        this.#unflushed = true
        const { setup, clock } = this.#store
        if (start === 0) clock.hotAfter = parseTransaction(result.transactionId)
        if (size < rows.length && setup.state !== 'half') await this.#store.engine.flush()
        if (as === 'as') this.#versions.set(version!, result.transactionId)
      }
    } catch (thrown) {
      if (block.expected === undefined) throw thrown
      return this.#sources.hide(renderError('', toAssayError(thrown))).split('\n')
    }
    return block.expected === undefined ? undefined : []
  }

  async #object(type: ObjectType, name: string): Promise<ObjectReference> {
    const known = this.#sources.idOf(name)
    if (known !== undefined) return { type, id: known }
    const { gate } = this.#store
    if (this.#projectId === undefined) {
      this.#projectId = (await gate.findOrCreate('project', { name: this.#name })).entry.id
    }
    const given = { project_id: this.#projectId, name: `${this.#name} ${name}` }
    const id = await this.#createObject(type, given)
    this.#sources.add(name, id)
    return { type, id }
  }

  /** What a project has one of has the project's id. */
  async #createObject(type: ObjectType, given: { project_id: string; name: string }) {
    const { gate } = this.#store
    switch (type) {
      case 'experiment':
        return (await gate.findOrCreate('experiment', given)).entry.id
      case 'dataset':
        return (await gate.findOrCreate('dataset', given)).entry.id
      case 'playground_logs':
        return (await gate.findOrCreate('prompt_session', given)).entry.id
      default:
        return given.project_id
    }
  }

  async #ask(request: QueryRequest): Promise<Answer> {
    const { engine, setup, scans } = this.#store
    if (!setup.cluster) return readAnswer(engine.query(request))
    const ofQuery = scans.begin(`${this.#name}: ${request.query}`)
    return readAnswer(engine.query({ ...request, auditLog: true, onAuditEvent: ofQuery }))
  }

  #answer(block: Block): Promise<string[]> {
    const written = block.body.join('\n')
    const { engine, gate } = this.#store
    if (block.kind !== 'request') {
      return this.#linesOf(block, written, this.#ask(this.#request(written)))
    }
    const request = requestOf(this.#substitute(written))
    const answer = askService(engine, gate, request)
    return this.#linesOf(block, written, answer, () => request.queryText)
  }

  /**
   * @param written what spans of errors point into
   * @param made what they point into instead, if the query was not written as text
   */
  async #linesOf(
    block: Block,
    written: string,
    answer: Promise<Answer>,
    made: () => string | undefined = () => undefined,
  ): Promise<string[]> {
    try {
      const { cursor, ...rest } = await answer
      const page = optionOf(block, 'as')
      if (page !== undefined && cursor !== undefined) this.#cursors.set(page, cursor)
      return printAnswer(block, { ...rest, cursor }).map((line) => this.#sources.hide(line))
    } catch (thrown) {
      const error = toAssayError(thrown)
      if (error.family === 'internal') throw thrown
      const text = made()
      if (text !== undefined) return this.#sources.hide(renderError(text, error)).split('\n')
      return this.#sources.hide(renderError(written, this.#placed(error, written))).split('\n')
    }
  }

  /** The error and those beside it, with their places in the text as it is written in the file, or in the object. */
  #placed(error: AssayError, written: string): ShownError {
    const { code, hint, span, others, path } = error
    const isInObject = path?.startsWith('query') === true
    const isTold = !isInObject || error.message.includes(path)
    return {
      code,
      message: isTold ? error.message : `${error.message} (at ${path})`,
      hint,
      span: span && !isInObject ? this.#sources.spanInText(written, span) : undefined,
      others: others.map((other) => this.#placed(other, written)),
    }
  }

  async #explain(block: Block): Promise<string[]> {
    const written = block.body.join('\n')
    const stages = argumentsOf(block)
    const texts: string[] = []
    for (const stage of stages) {
      if (stages.length > 1) texts.push(`${stage}:`)
      if (stage === 'tokens') texts.push(printTokens(written))
      else if (stage === 'ast') texts.push(printAst(parseQuery(written)))
      else if (stage === 'analyze') {
        texts.push(withoutTimes(await this.#store.engine.explainAnalyze(this.#request(written))))
      } else texts.push(stageOf(await this.#store.engine.explain(this.#request(written)), stage))
    }
    return this.#sources.hide(texts.join('\n')).split('\n')
  }

  #request(written: string) {
    const { tz_offset, version, columnstore, from, project } = this.#settings
    return {
      query: this.#substitute(written),
      view: this.#store.gate,
      separator: '\n' as const,
      ...(tz_offset !== undefined && { tzOffset: Number(tz_offset) }),
      ...(project !== undefined && { project: this.#projectId ?? project }),
      ...(version !== undefined && { version: this.#versions.get(version) ?? version }),
      ...(columnstore !== undefined && { useColumnstore: columnstore === 'true' }),
      ...(from !== undefined && { from: this.#sources.substitute(from) }),
    }
  }

  /** Puts in the ids of sources and the cursors of earlier answers. */
  #substitute(written: string): string {
    return this.#sources
      .substitute(written)
      .replace(cursorPattern, (place, page: string) => this.#cursors.get(page) ?? place)
  }

  #isForThisState(): boolean {
    const { state } = this.#settings
    return state === undefined || state === this.#store.setup.state
  }

  /** Plans are looked at in one setup: rows in one segment unless the file says where, no workers. */
  #isPlain(): boolean {
    const { state, workers } = this.#store.setup
    return workers === 0 && state === (this.#settings.state ?? 'segment')
  }
}

/** One stage of an explanation; `rules` is the plan after every rule, `optimized` after the last. */
function stageOf(explanation: string, stage: string): string {
  const sections = explanation.split(/\n(?=\S)/)
  const isWanted = (section: string) =>
    stage === 'rules' || stage === 'optimized'
      ? section.startsWith('rule ')
      : section.startsWith(stage)
  const wanted = sections.filter(isWanted)
  if (wanted.length === 0)
    throw new Error(`the explanation has no stage "${stage}":\n${explanation}`)
  if (stage === 'rules') return wanted.join('\n')
  return wanted.at(-1)!.split('\n').slice(1).join('\n').replace(/^ {2}/gm, '')
}

export interface Outcome {
  readonly block: Block
  /** Undefined: as it is written in the file. */
  readonly form: QueryForm | undefined
  readonly actual: readonly string[]
  readonly passed: boolean
}

/** Runs blocks one after the other; the outcomes of those that give lines. */
export async function runBlocks(run: GoldenRun, blocks: readonly Block[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const block of blocks) {
    const actual = await run.run(block)
    if (actual === undefined) continue
    const passed = isExpected(block, actual)
    outcomes.push({ block, form: undefined, actual, passed })
    for (const other of passed ? await run.runForms(block) : []) {
      outcomes.push({ block, ...other, passed: isExpected(block, other.actual) })
    }
  }
  return outcomes
}

export function startRun(store: GoldenStore, file: GoldenFile): GoldenRun {
  return new GoldenRun(store, file.name)
}

/** Of a plan with what its operators did: times are never the same twice, nor how tasks are cut. */
function withoutTimes(text: string): string {
  return (
    text
      .replace(/\d+\.\d{3} ms/g, '… ms')
      .replace(/ in \d+ tasks/g, '')
      // Segments of objects that other files have made.
      .replace(/\n *skipped by object: .*/g, '')
  )
}
