import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { runAssay, spawnAssay } from '../support/assay-process.ts'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
const directory = mkdtempSync(join(tmpdir(), 'assay-command-'))

beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(async () => {
  await service.stop()
  rmSync(directory, { recursive: true })
})

function run(args: string[], input?: string | Buffer) {
  const environment = { ASSAY_URL: service.url, ASSAY_API_KEY: testKey }
  return runAssay(args, { environment, ...(input !== undefined && { input }) })
}

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

async function experimentNamed(name: string): Promise<string> {
  const { json } = await service.request(`/v1/experiment?experiment_name=${name}`)
  return String((json.objects as unknown as { id: string }[])[0]?.id)
}

/** Runs a command line in this process; for those that end before they do anything. */
async function explained(args: string[]): Promise<string> {
  let output = ''
  const capture = (text: string | Uint8Array) => {
    output += text
    return true
  }
  const writes = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(capture),
  )
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    output += (error as Error).message
  } finally {
    for (const write of writes) write.mockRestore()
  }
  return output
}

test('help for everything', async () => {
  const program = await runAssay(['--help'])
  expect(program.code).toBe(0)
  for (const command of ['serve', 'import', 'query', 'demo']) {
    expect(program.stdout).toContain(command)
    expect(await explained([command, '--help'])).toContain(`Usage: assay ${command}`)
  }
  expect(await explained(['--version'])).toContain('0.2.0')
})

test('a command line that cannot be understood ends with 2', async () => {
  const unknown = await runAssay(['serve', '--prot', '1'])
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean --port?'),
  })
  const wrong = await runAssay(['serve', '--port', 'x'])
  expect(wrong.stderr).toBe('assay: --port must be a whole number from 0 to 65535, not "x"\n')
  expect(wrong.code).toBe(2)
})

test.each([
  [['nonsense'], "unknown command 'nonsense'"],
  [['serve', 'x'], 'too many arguments'],
  [['import', 'a'], '--project'],
  [['import', 'a', '--project', 'p', '--key', 'k'], '--experiment E, --dataset D or --logs'],
  [['import', 'a', '--project', 'p', '--key', 'k', '--logs', '--dataset', 'd'], 'or --logs'],
  [['query', 'x'], 'no API key'],
  [['query', 'x', '--key', 'k', '--url', 'ftp://x'], 'not an HTTP address'],
  [['query', 'x', '--key', 'k', '--tz-offset', 'x'], '--tz-offset'],
])('%j is explained', async (args, message) => {
  expect(await explained(args)).toContain(message)
})

test('a service that is not there', async () => {
  const args = ['query', 'x', '--key', 'k', '--url', 'http://127.0.0.1:9']
  const { code, stderr } = await runAssay(args)
  expect(stderr).toContain('cannot reach http://127.0.0.1:9')
  expect(code).toBe(1)
})

test('import files, plain and gzip, then query them', async () => {
  const plain = file('plain.jsonl', '{"id":"a","scores":{"s":1}}\n\n{"id":"b","extra":{"k":[1]}}\n')
  const gzip = file('more.jsonl.gz', gzipSync('{"id":"c"}\n{"input":"no id"}'))
  const args = ['import', plain, gzip, '--project', 'P', '--experiment', 'files']
  for (let round = 0; round < 2; round++) {
    const { code, stderr } = await run(args)
    expect(stderr).toContain('imported 4 rows of 2 files')
    expect(stderr).toContain(
      `query them with from: experiment('${await experimentNamed('files')}')`,
    )
    expect(code).toBe(0)
  }
  const id = await experimentNamed('files')
  const query = `select: id, extra.k as k | from: experiment('${id}') | sort: id`
  const { stdout, code } = await run(['query', query])
  expect(code).toBe(0)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toHaveLength(4)
  expect(lines.filter((row) => row.id === 'b')).toEqual([{ id: 'b', k: [1] }])
})

test('bad lines are told by number, and the rest is imported', async () => {
  const lines = [
    '{"id":"a"}',
    'nonsense',
    '{"id":"b","tags":{"not":"an array"}}',
    '[]',
    '{"id":"c"}',
    `{"id":"d","input":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  ]
  const { code, stderr } = await run(
    ['import', '-', '--project', 'P', '--experiment', 'bad'],
    lines.join('\n'),
  )
  expect(code).toBe(1)
  expect(stderr).toMatch(/standard input, line 2: .*JSON/)
  expect(stderr).toMatch(/standard input, line 3: .*"tags" are not texts/)
  expect(stderr).toMatch(/standard input, line 4: not a JSON object/)
  expect(stderr).toMatch(/standard input, line 6: /)
  expect(stderr).toContain('imported 2 rows of 1 file')
  expect(stderr).toContain('4 bad lines left out')
  const id = await experimentNamed('bad')
  const { stdout } = await run(['query', `select: id | from: experiment('${id}') | sort: id`])
  expect(stdout).toBe('{"id":"a"}\n{"id":"c"}\n')
})

test('later lines of a record win, whichever request they are in', async () => {
  const text = Array.from({ length: 6000 }, (_, i) => `{"id":"r${i % 1500}","input":${i}}`)
  const args = ['import', '-', '--project', 'P', '--dataset', 'order']
  expect((await run(args, text.join('\n'))).code).toBe(0)
  const { json } = await service.request('/v1/dataset?dataset_name=order')
  const [dataset] = json.objects as unknown as { id: string }[]
  const from = `from: dataset('${dataset?.id}')`
  const { stdout } = await run(['query', `measures: count(1) as n, min(input) as least | ${from}`])
  expect(JSON.parse(stdout)).toEqual({ n: 1500, least: 4500 })
})

test('what cannot be imported at all', async () => {
  const missing = await run(['import', '/no/such/file', '--project', 'P', '--logs'])
  expect(missing).toMatchObject({ code: 1, stderr: 'assay: there is no file /no/such/file\n' })
  const broken = file('broken.gz', gzipSync('{"id":"a"}\n'.repeat(100)).subarray(0, 30))
  const cut = await run(['import', broken, '--project', 'P', '--logs'])
  expect(cut.stderr).toContain(`${broken} cannot be read`)
  expect(cut.code).toBe(1)
  const key = await run(['import', file('x', '{}'), '--project', 'P', '--logs', '--key', 'wrong'])
  expect(key.stderr).toContain('no valid API key')
  expect(key.code).toBe(1)
})

test('a query from standard input, its plan, and its faults', async () => {
  const query = `select: id\nfrom: experiment('${await experimentNamed('files')}')\nlimit: 1`
  expect((await run(['query', '-'], query)).stdout).toMatch(/^\{"id":".*"\}\n$/)
  const plan = await run(['query', '--explain', query])
  expect(plan).toMatchObject({ code: 0, stdout: expect.stringMatching(/\w.*\n$/s) })
  const fault = await run(['query', `${query} |`.replace('limit', 'limmit')])
  expect(fault.code).toBe(1)
  expect(fault.stderr).toContain('^')
  const from = `experiment('${await experimentNamed('files')}')`
  expect((await run(['query', "id = 'a'", '--from', from])).stdout).toContain('"id":"a"')
})

test('a source without an id is that of the project that is named', async () => {
  const id = await service.project('named apart')
  await service.insert('project_logs', id, [{ id: 'here' }])
  const query = 'select: id | from: project_logs()'
  for (const project of [id, 'named apart']) {
    expect((await run(['query', query, '--project', project])).stdout).toBe('{"id":"here"}\n')
  }
  expect((await run(['query', query])).stderr).toContain('without an id')
})

test('answers as files, by what is said or by the name', async () => {
  const from = `from: experiment('${await experimentNamed('files')}')`
  const path = (name: string) => join(directory, name)
  const save = (...args: string[]) => run(['query', `select: id | ${from} | limit: 3`, ...args])
  for (const args of [
    ['--output', path('a.csv')],
    ['--output', path('a.parquet')],
    ['--output', path('b.txt'), '--format', 'arrow'],
    ['--output', path('c.txt')],
  ]) {
    expect(await save(...args)).toMatchObject({ code: 0, stdout: '' })
  }
  const read = (name: string) => readFileSync(path(name))
  expect(read('a.csv').toString()).toMatch(/^id\r\n(\w+\r\n)+$/)
  expect(read('a.parquet').subarray(0, 4).toString()).toBe('PAR1')
  expect(tableFromIPC(read('b.txt')).schema.names).toEqual(['id'])
  expect(read('c.txt').toString()).toMatch(/^(\{"id":"\w+"\}\n)+$/)
  expect((await save('--format', 'csv')).stdout).toBe(read('a.csv').toString())
  const bad = await run(['query', 'select: (', '--output', path('d.csv')])
  expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining('PARSE_') })
  const nowhere = await save('--output', path('none/e.csv'))
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot write') })
  const unknown = await save('--output', path('f.xlsx'))
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('.xlsx') })
  expect(existsSync(path('f.xlsx'))).toBe(false)
  expect(await save('--format', 'xml')).toMatchObject({ code: 2 })
  expect(readdirSync(directory).filter((name) => /\.part$|^d\.csv$/.test(name))).toEqual([])
})

test('a reader that has seen enough is no error', async () => {
  const id = await experimentNamed('files')
  const big = Array.from({ length: 3000 }, (_, i) => ({ id: `big${i}`, input: 'x'.repeat(2000) }))
  await service.insert('experiment', id, big)
  const child = spawnAssay(['query', `select: * | from: experiment('${id}')`], {
    ASSAY_URL: service.url,
    ASSAY_API_KEY: testKey,
  })
  let stderr = ''
  child.stderr?.on('data', (data) => {
    stderr += data
  })
  child.stdout?.once('data', () => child.stdout?.destroy())
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})
