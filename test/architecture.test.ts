/** Holds the import direction that src/README.md describes: imports point down only. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { expect, test } from 'vitest'

/**
 * From the top floor to the ground. A unit is a folder of src/, a file of src/ without its ending,
 * or workers/. Units on one floor do not know each other, unless `orders` says so.
 */
const floors: readonly (readonly string[])[] = [
  ['main', 'cli', 'demo', 'ui'],
  ['server'],
  ['engine', 'config', 'attachment', 'backup'],
  ['scheduler', 'workers'],
  ['executor', 'access', 'otlp', 'clickhouse', 'object-store'],
  ['planner'],
  ['binder'],
  ['catalog', 'function', 'storage', 'search'],
  ['kernel', 'parser', 'format', 'import', 'masking'],
  ['vector', 'type', 'json', 'error', 'native-binary', 'installation'],
]

/** Within these, left may import right. */
const orders: readonly (readonly string[])[] = [
  ['main', 'cli', 'demo'],
  ['catalog', 'storage'],
  ['vector', 'type', 'json', 'error', 'native-binary', 'installation'],
]

/** Folders within a unit, from top to ground: left may import right. `''` is the unit itself. */
const innerOrders: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'scheduler',
    [
      '',
      'answer',
      'scan',
      'insert',
      'maintenance',
      'export',
      'thread',
      'cold',
      'admission',
      'cost',
    ],
  ],
  [
    'storage',
    [
      'backup',
      'maintenance',
      'write',
      'prepare',
      'read',
      'segment',
      'shred',
      'id',
      'row',
      'directory',
      '',
    ],
  ],
])

/** Packages that only these units or files may name. */
const owners: ReadonlyMap<string, readonly string[]> = new Map([
  ['piscina', ['scheduler/thread/threads.ts']],
  ['lmdb', ['storage/environment.ts']],
  [
    'fs-native-extensions',
    ['storage/maintenance/trim-files.ts', 'storage/directory/open-directory.ts'],
  ],
  [
    'lz4-napi',
    ['kernel/lz4.ts', 'storage/row/row-block-chunks.ts', 'storage/segment/text-blocks.ts'],
  ],
  ['@modelcontextprotocol/sdk/server/mcp.js', ['server/mcp/tool-answer.ts']],
  ['protobufjs/light.js', ['otlp/schema.ts']],
  ['re2js', ['function/pattern.ts', 'type/linear-pattern.ts']],
  ['openai', ['search/ask-model.ts']],
  ['@clickhouse/client', ['clickhouse/connection.ts']],
  [
    'openid-client',
    [
      'server/openid/provider.ts',
      'server/openid/provider-fault.ts',
      'server/openid/provider-fetch.ts',
    ],
  ],
  ['@aws-sdk/client-s3', ['object-store']],
  ['hyparquet-writer', ['format']],
  [
    'uWebSockets.js',
    ['server/http/native.ts', 'server/http/uwebsockets.ts', 'server/http/uwebsockets-peer.ts'],
  ],
  ['ws', ['server/http/node.ts', 'server/http/node-peer.ts']],
  ['@grpc/grpc-js', ['server/grpc/otlp-grpc.ts']],
  ['commander', ['main', 'cli']],
  ['cli-progress', ['cli', 'demo']],
  ['node:http', ['server', 'cli']],
  ['node:https', ['server', 'cli']],
])

interface Import {
  /** The importing file, relative to src/, or `workers/…`. */
  readonly from: string
  /** What is imported: a file named like `from`, or a package. */
  readonly to: string
  readonly isPackage: boolean
}

const importForms = [
  /^\s*import\s+(?:type\s+)?[\w$*{][^'";]*?\sfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*export\s+(?:type\s+)?[*{][^'";]*?\sfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"`]([^'"`]+)['"`]/g,
  /\brequire\(\s*['"`]([^'"`]+)['"`]/g,
]

function importsOf(from: string, text: string): Import[] {
  return importForms.flatMap((form) =>
    Array.from(text.matchAll(form), ([, specifier]) => {
      const isPackage = !specifier!.startsWith('.')
      return { from, to: isPackage ? specifier! : resolve(from, specifier!), isPackage }
    }),
  )
}

function resolve(from: string, specifier: string): string {
  const path = (name: string) => (name.startsWith('workers/') ? name : `src/${name}`)
  return posix.join(posix.dirname(path(from)), specifier).replace(/^src\//, '')
}

function unitOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '')
}

function floorOf(unit: string): number {
  const fromTop = floors.findIndex((units) => units.includes(unit))
  return fromTop < 0 ? -1 : floors.length - 1 - fromTop
}

/** One sentence for each import that points the wrong way, naming it. */
function violations(imports: readonly Import[]): string[] {
  return imports.flatMap((edge) => {
    const fault = edge.isPackage ? packageFault(edge) : directionFault(edge)
    return fault === undefined ? [] : [`${edge.from} imports ${edge.to}: ${fault}`]
  })
}

function packageFault({ from, to }: Import): string | undefined {
  const allowed = owners.get(to)
  if (!allowed || allowed.includes(unitOf(from)) || allowed.includes(from)) return undefined
  return `only ${allowed.join(', ')} may name ${to}`
}

function innerFault({ from, to }: Pick<Import, 'from' | 'to'>, unit: string): string | undefined {
  const order = innerOrders.get(unit)
  if (!order) return undefined
  const [folder, target] = [folderOf(from), folderOf(to)]
  const unknown = [folder, target].find((name) => !order.includes(name))
  if (unknown !== undefined) return `${unit}/${unknown} has no place in the order of ${unit}`
  if (order.indexOf(folder) <= order.indexOf(target)) return undefined
  return `${posix.join(unit, folder)} may not know ${posix.join(unit, target)}`
}

/** The folder of a unit that a file is in. */
function folderOf(file: string): string {
  return file.split('/').slice(1, -1)[0] ?? ''
}

function directionFault({ from, to }: Import): string | undefined {
  const [unit, target] = [unitOf(from), unitOf(to)]
  if (unit === target) return innerFault({ from, to }, unit)
  const [floor, targetFloor] = [floorOf(unit), floorOf(target)]
  if (floor < 0) return `${unit} has no floor`
  if (targetFloor < 0) return `${target} has no floor`
  if (targetFloor > floor) return `floor ${floor} may not look up to floor ${targetFloor}`
  if (targetFloor < floor || mayKnowOnSameFloor(unit, target)) return undefined
  return `${unit} and ${target} are both on floor ${floor} and ${unit} may not know ${target}`
}

function mayKnowOnSameFloor(unit: string, target: string): boolean {
  return orders.some((order) => order.includes(unit) && order.indexOf(target) > order.indexOf(unit))
}

/** The first ring found, as `a → b → a`; undefined if there is none. */
function cycleOf(edges: readonly (readonly [from: string, to: string])[]): string | undefined {
  const targets = new Map<string, Set<string>>()
  for (const [from, to] of edges) targets.set(from, (targets.get(from) ?? new Set()).add(to))
  const finished = new Set<string>()
  const visit = (name: string, path: readonly string[]): string | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name].join(' → ')
    if (finished.has(name)) return undefined
    for (const target of targets.get(name) ?? []) {
      const cycle = visit(target, [...path, name])
      if (cycle !== undefined) return cycle
    }
    finished.add(name)
    return undefined
  }
  for (const name of targets.keys()) {
    const cycle = visit(name, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

function unitEdges(imports: readonly Import[]): (readonly [string, string])[] {
  return imports
    .filter(({ isPackage }) => !isPackage)
    .map(({ from, to }) => [unitOf(from), unitOf(to)] as const)
    .filter(([unit, target]) => unit !== target)
}

const root = new URL('..', import.meta.url).pathname

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
}

const sources = new Map([
  ...filesUnder('src').map(
    (file) => [file, readFileSync(join(root, 'src', file), 'utf8')] as const,
  ),
  ...filesUnder('workers').map(
    (file) => [`workers/${file}`, readFileSync(join(root, 'workers', file), 'utf8')] as const,
  ),
])
const imports = [...sources].flatMap(([file, text]) => importsOf(file, text))

test('imports point down only', () => {
  expect(violations(imports)).toEqual([])
})

test('the binary of uWebSockets.js is loaded in one place, which does without it where it does not fit', () => {
  const named =
    /import (?!type\b)[^;'"]*?['"`]uWebSockets\.js['"`]|import\(\s*['"`]uWebSockets\.js['"`]/
  const loading = [...sources].filter(([, text]) => named.test(text)).map(([file]) => file)
  expect(loading).toEqual(['server/http/native.ts'])
})

test('HTTP servers know nothing of what is served', () => {
  const known = imports.filter(
    ({ from, isPackage }) => from.startsWith('server/http/') && !isPackage,
  )
  const beyond = known.filter(({ to }) => !/^server\/http\/|^(config|error)\.ts$/.test(to))
  expect(beyond.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('no units import each other in a ring', () => {
  expect(cycleOf(unitEdges(imports))).toBeUndefined()
})

test('no files import each other in a ring, not for types either', () => {
  const files = imports
    .filter(({ isPackage }) => !isPackage)
    .map(({ from, to }) => [from, to] as const)
  expect(cycleOf(files)).toBeUndefined()
})

test('every unit has a floor', () => {
  const units = new Set([...sources.keys()].map(unitOf))
  expect([...units].filter((unit) => floorOf(unit) < 0)).toEqual([])
})

test('files are named after what they hold', () => {
  const vague = /^(index|util|utils|helper|helpers|common|misc|shared)\.tsx?$/
  const files = [...sources.keys()]
  expect(files.filter((file) => vague.test(basename(file)))).toEqual([])
  expect(files.filter((file) => !/^[a-z0-9-]+(\.d)?\.tsx?$/.test(basename(file)))).toEqual([])
})

test('no file is longer than 500 lines', () => {
  const long = [...sources].filter(([, text]) => text.split('\n').length > 501)
  expect(long.map(([file]) => file)).toEqual([])
})

test('the check sees every form of import and every kind of fault', () => {
  const faultsOf = (file: string, text: string) => violations(importsOf(file, text))
  expect(faultsOf('kernel/hash.ts', "import { runTask } from '../executor/task.ts'")).toEqual([
    'kernel/hash.ts imports executor/task.ts: floor 1 may not look up to floor 5',
  ])
  expect(faultsOf('type/x.ts', "import type {\n  Batch,\n} from '../vector/batch.ts'")).toEqual([
    'type/x.ts imports vector/batch.ts: type and vector are both on floor 0 and type may not know vector',
  ])
  expect(faultsOf('error.ts', "export * from './engine.ts'")).toEqual([
    'error.ts imports engine.ts: floor 0 may not look up to floor 7',
  ])
  expect(faultsOf('storage/rule/a.ts', "const b = await import('../../catalog/b.ts')")).toEqual([
    'storage/rule/a.ts imports catalog/b.ts: storage and catalog are both on floor 2 and storage may not know catalog',
  ])
  expect(faultsOf('workers/query.ts', "import '../src/server/server.ts'")).toEqual([
    'workers/query.ts imports server/server.ts: floor 6 may not look up to floor 8',
  ])
  expect(faultsOf('engine.ts', "import { helper } from './helper/x.ts'")).toEqual([
    'engine.ts imports helper/x.ts: helper has no floor',
  ])
  expect(faultsOf('storage/row/row.ts', "import type { Database } from 'lmdb'")).toEqual([
    'storage/row/row.ts imports lmdb: only storage/environment.ts may name lmdb',
  ])
  expect(faultsOf('storage/row/a.ts', "import type { B } from '../read/b.ts'")).toEqual([
    'storage/row/a.ts imports storage/read/b.ts: storage/row may not know storage/read',
  ])
  expect(faultsOf('storage/rule/a.ts', "import '../environment.ts'")).toEqual([
    'storage/rule/a.ts imports storage/environment.ts: storage/rule has no place in the order of storage',
  ])
  expect(faultsOf('vector/x.ts', "import { AssayError } from '../error.ts'")).toEqual([])
  const ring = importsOf('binder/a.ts', "import '../planner/b.ts'").concat(
    importsOf('planner/b.ts', "import '../binder/a.ts'"),
  )
  expect(cycleOf(unitEdges(ring))).toBe('binder → planner → binder')
})
