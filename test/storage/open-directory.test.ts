/** A data directory is looked at before anything of it is mapped: what is not whole is named, or made again. */
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Engine } from '../../src/engine.ts'
import { openDirectory } from '../../src/storage/directory/open-directory.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { RecordStore } from '../support/record-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-open-'))
const whole = join(folder, 'whole')
const directory = join(folder, 'data')
const pageBytes = 4096
const rowCount = 700

let experiment: string
let notes: string[] = []
let umask: number

const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (_: object, message: string) => notes.push(message),
  error: () => undefined,
}

beforeAll(async () => {
  umask = process.umask(0)
  const store = await RecordStore.open({ directory: whole, workers: 0 })
  experiment = await store.createExperiment('e')
  const object = { type: 'experiment', id: experiment } as const
  for (let request = 0; request < 2; request++) {
    const events = Array.from({ length: rowCount / 2 }, (_, i) => ({
      id: `${request}/${i}`,
      input: `text ${i} `.repeat(20),
      metrics: { n: i },
    }))
    await store.insert(object, Buffer.from(JSON.stringify({ events })))
    await store.engine.flush()
  }
  await store.close()
})
afterAll(() => {
  process.umask(umask)
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  notes = []
  putBack()
})
afterEach(() => rmSync(directory, { recursive: true }))

function pathOf(name: string): string {
  return join(directory, name)
}

/** Looks at the directory as each start does. */
async function look(): Promise<void> {
  const lock = await openDirectory(directory, (note) => notes.push(note))
  await lock.release()
}

/** Starts an engine and counts what queries find, by columns and by rows. */
async function open(): Promise<number> {
  const engine = await Engine.open({ dataDirectory: directory, workers: 0, logger })
  try {
    const view = await ownerGate(engine.catalog)
    const ask = async (clauses: string) => {
      const query = `from: experiment('${experiment}') | ${clauses}`
      const { rows } = await engine.query({ query, view, separator: '\n' })
      const chunks: Uint8Array[] = []
      for await (const { bytes } of rows) chunks.push(Uint8Array.from(bytes))
      return Buffer.concat(chunks).toString().trim().split('\n')
    }
    const [sums] = await ask('measures: count(1) as n, sum(metrics.n) as s')
    expect(JSON.parse(sums!)).toEqual({ n: rowCount, s: (rowCount / 2) * (rowCount / 2 - 1) })
    return (await ask('select: id, input, metrics')).filter((line) => line !== '').length
  } finally {
    await engine.close()
  }
}

/** The directory as it was before all damage. */
function putBack(): void {
  rmSync(directory, { recursive: true, force: true })
  const isSocket = (path: string) => /\/lock\.\d+$/.test(path)
  cpSync(whole, directory, { recursive: true, filter: (path) => !isSocket(path) })
}

function pageCountOf(name: string): number {
  return statSync(join(whole, name)).size / pageBytes
}

/** The page of metadata of the last transaction. */
function newestPage(path: string): number {
  const transaction = (page: number) => {
    const bytes = Buffer.alloc(8)
    const file = openSync(path, 'r')
    readSync(file, bytes, 0, 8, page * pageBytes + 24 + 128)
    closeSync(file)
    return bytes.readBigUInt64LE()
  }
  return transaction(0) > transaction(1) ? 0 : 1
}

function zero(path: string, page: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(pageBytes), 0, pageBytes, page * pageBytes)
  closeSync(file)
}

const records = 'records/data.mdb'

test('what is whole is opened as it is', async () => {
  expect(await open()).toBe(rowCount)
  expect(notes).toEqual([])
})

describe('records', () => {
  const size = pageCountOf
  test.each([
    ['nothing', () => 0],
    ['a byte', () => 1],
    ['half a page', () => pageBytes / 2],
    ['a page', () => pageBytes],
    ['a byte less than two pages', () => 2 * pageBytes - 1],
    ['two pages', () => 2 * pageBytes],
    ['half', () => Math.floor(size(records) / 2) * pageBytes],
    ['half, within a page', () => Math.floor(size(records) / 2) * pageBytes + 100],
  ])('cut off to %s are refused, and not begun anew', async (_, bytes) => {
    truncateSync(pathOf(records), bytes())
    await expect(look()).rejects.toMatchObject({
      code: 'STORAGE_CORRUPT',
      message: expect.stringContaining(pathOf(records)),
      hint: expect.stringContaining('backup'),
    })
    expect(statSync(pathOf(records)).size).toBe(bytes())
  })

  test('of which only free pages are cut off are read, and all others refused', async () => {
    for (let pages = size(records) - 1; pages > 2; pages--) {
      putBack()
      truncateSync(pathOf(records), pages * pageBytes)
      const isRefused = await look().then(
        () => false,
        () => true,
      )
      if (!isRefused) expect(await open()).toBe(rowCount)
    }
  })

  test.each(['the file', 'the folder'])(
    'of which %s is missing beside others are refused',
    async (what) => {
      rmSync(what === 'the file' ? pathOf(records) : pathOf('records'), { recursive: true })
      await expect(look()).rejects.toMatchObject({
        code: 'STORAGE_CORRUPT',
        message: expect.stringContaining('it is missing, and '),
      })
      expect(existsSync(pathOf(records))).toBe(false)
    },
  )

  test.each(['segments/data.mdb', 'attachments', 'async', 'format.json'])(
    'are known to be missing by %s alone',
    async (trace) => {
      const others = readdirSync(directory).filter((name) => name !== trace.split('/')[0])
      for (const name of others) rmSync(pathOf(name), { recursive: true })
      if (!existsSync(pathOf(trace))) mkdirSync(pathOf(trace))
      await expect(look()).rejects.toThrow(`${pathOf(trace)} shows that there were records`)
    },
  )

  test('whose newer metadata are lost are refused, and older ones are made again', async () => {
    const newest = newestPage(pathOf(records))
    zero(pathOf(records), 1 - newest)
    expect(await open()).toBe(rowCount)
    expect(notes).toEqual([expect.stringContaining('made again from the newer one')])
    zero(pathOf(records), newestPage(pathOf(records)))
    await expect(look()).rejects.toThrow('the page of metadata of its last transaction is lost')
  })

  // The number of the transaction before, with trees of the one that failed, whose pages stay behind.
  test('whose end of a transaction was taken back are read as they were before it', async () => {
    const path = pathOf(records)
    const newest = newestPage(path)
    const pages = statSync(path).size / pageBytes
    const number = Buffer.alloc(8)
    const file = openSync(path, 'r+')
    readSync(file, number, 0, 8, newest * pageBytes + 24 + 128)
    const left = Buffer.alloc(pageBytes)
    left.writeBigUInt64LE(BigInt(pages), 0)
    left.writeBigUInt64LE(number.readBigUInt64LE() + 1n, 8)
    writeSync(file, left, 0, pageBytes, pages * pageBytes)
    number.writeBigUInt64LE(BigInt(pages))
    writeSync(file, number, 0, 8, (1 - newest) * pageBytes + 24 + 72 + 40)
    closeSync(file)
    expect(await open()).toBe(rowCount)
  })

  test('without any metadata, or that are no such file, are refused', async () => {
    zero(pathOf(records), 0)
    zero(pathOf(records), 1)
    const fault = 'neither of its two pages of metadata is whole'
    await expect(look()).rejects.toThrow(fault)
    writeFileSync(pathOf(records), 'text '.repeat(10_000))
    await expect(look()).rejects.toThrow(fault)
  })

  test('of which a page is zeros are read or refused, and end no process', async () => {
    let refused = 0
    for (let page = 2; page < size(records); page++) {
      putBack()
      zero(pathOf(records), page)
      const isRefused = await look().then(
        () => false,
        () => true,
      )
      if (isRefused) refused++
      else if (process.env.ASSAY_SLOW) await open().catch(() => undefined)
    }
    expect(refused).toBeGreaterThan(2)
  })
})

describe.each(['segments/data.mdb', 'segments/columns/data.mdb'])('%s', (name) => {
  test.each([0, 1, pageBytes / 2, pageBytes, 2 * pageBytes - 1, 2 * pageBytes, 3 * pageBytes + 5])(
    'cut off to %i bytes is set aside',
    async (bytes) => {
      truncateSync(pathOf(name), bytes)
      await look()
      expect(notes).toEqual([expect.stringContaining('made again from the records')])
      expect(readdirSync(directory).filter((name) => name.startsWith('segments'))).toHaveLength(2)
    },
  )

  test('is made again from the records', async () => {
    truncateSync(pathOf(name), Math.floor(pageCountOf(name) / 2) * pageBytes)
    expect(await open()).toBe(rowCount)
    expect(notes).toEqual([expect.stringContaining('made again from the records')])
  })

  test('is set aside when it is missing, zeros or half of it', async () => {
    const damages = [
      (path: string) => rmSync(path),
      (path: string) => writeFileSync(path, Buffer.alloc(10 * pageBytes)),
      (path: string) => truncateSync(path, Math.floor(pageCountOf(name) / 2) * pageBytes),
    ]
    for (const damage of damages) {
      notes = []
      putBack()
      damage(pathOf(name))
      await look()
      expect(notes).toEqual([expect.stringContaining(`${pathOf('segments')} `)])
    }
  })
})

test('segments that are deleted are made again', async () => {
  rmSync(pathOf('segments'), { recursive: true })
  expect(await open()).toBe(rowCount)
  expect(notes).toEqual([])
})

test('segments of later records are refused: these have lost some', async () => {
  const store = await RecordStore.open({ directory, workers: 0 })
  const object = { type: 'experiment', id: experiment } as const
  await store.insert(object, Buffer.from('{"events":[{"id":"later"}]}'))
  await store.engine.flush()
  await store.close()
  cpSync(join(whole, records), pathOf(records))
  await expect(open()).rejects.toMatchObject({
    code: 'STORAGE_CORRUPT',
    message: expect.stringContaining('the segments have later records than'),
    hint: expect.stringContaining(pathOf('segments')),
  })
})

test.each(['', '{}', '{"format":0}', '{"format":"2"}', '\0\0'])(
  'a format that is none is refused: %j',
  async (text) => {
    writeFileSync(pathOf('format.json'), text)
    await expect(look()).rejects.toMatchObject({ code: 'STORAGE_FORMAT' })
  },
)

test('a newer format is refused before anything is changed', async () => {
  writeFileSync(pathOf('format.json'), '{"format":1000}')
  rmSync(pathOf('segments/lock.mdb'))
  const before = readFileSync(pathOf(records))
  await expect(look()).rejects.toMatchObject({
    code: 'STORAGE_FORMAT',
    message: expect.stringContaining('has format 1000, and this service reads formats up to'),
    hint: expect.stringContaining('newer version'),
  })
  expect(readFileSync(pathOf(records)).equals(before)).toBe(true)
  expect(existsSync(pathOf('segments/lock.mdb'))).toBe(false)
})

test('lock files have all of their room before they are mapped', async () => {
  for (const name of ['records', 'segments', 'segments/columns']) {
    const path = join(pathOf(name), 'lock.mdb')
    rmSync(path, { force: true })
    const file = openSync(path, 'w')
    ftruncateSync(file, name === 'records' ? 65_744 : 100)
    closeSync(file)
  }
  expect(await open()).toBe(rowCount)
  for (const name of ['records', 'segments', 'segments/columns']) {
    const { size, blocks } = statSync(join(pathOf(name), 'lock.mdb'))
    expect(blocks * 512).toBeGreaterThanOrEqual(size)
    expect(size).toBeGreaterThan(65_744)
  }
})

test('nobody else may read what is there, whatever the umask, nor what was open before', async () => {
  mkdirSync(pathOf('attachments/content/ab'), { recursive: true })
  writeFileSync(pathOf('attachments/content/ab/file'), 'text')
  for (const path of ['', 'records', 'attachments', 'attachments/content'])
    chmodSync(pathOf(path), 0o777)
  chmodSync(pathOf(records), 0o666)
  expect(await open()).toBe(rowCount)
  const made = readdirSync(directory, { recursive: true, withFileTypes: true })
  const open_ = made.filter((entry) => {
    const isPlain = entry.isFile() || entry.isDirectory()
    return isPlain && (statSync(join(entry.parentPath, entry.name)).mode & 0o077) !== 0
  })
  expect(open_.map(({ name }) => name)).toEqual([])
  expect(statSync(directory).mode & 0o777).toBe(0o700)
})

test('a deleted lock lets no second one in', async () => {
  const lock = await openDirectory(directory, () => undefined)
  for (const name of readdirSync(directory)) {
    if (name.startsWith('lock.')) rmSync(pathOf(name))
  }
  await expect(look()).rejects.toMatchObject({ code: 'STORAGE_LOCKED' })
  await lock.release()
  await look()
})

test('a first start that was cut short can be made again', async () => {
  rmSync(directory, { recursive: true })
  mkdirSync(pathOf('records'), { recursive: true })
  writeFileSync(pathOf(records), '')
  await look()
  expect(notes).toEqual([])
})
