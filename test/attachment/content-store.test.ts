import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ContentPlace, ContentStore, contentName } from '../../src/attachment/content-store.ts'
import { contentSecret, PathSigner } from '../../src/attachment/signed-path.ts'

let directory: string
let now = Date.now()
let store: ContentStore

const day = 24 * 60 * 60 * 1000

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'assay-content-'))
  store = new ContentStore(directory, { now: () => now })
})
afterEach(() => rmSync(directory, { recursive: true }))

function placeOf(key: string, more: Partial<ContentPlace> = {}): ContentPlace {
  return { organizationId: 'o1', kind: 'attachment', key, ...more }
}

const details = { filename: 'a.txt', contentType: 'text/plain' }

/** What nothing names, and what everything does. */
const unused = { filePlaces: () => ({ objects: [] }), forgetFile: () => Promise.resolve() }
const used = { ...unused, filePlaces: () => ({ objects: [{}] }) }

function filesIn(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

test('keys of organizations and kinds are apart, and no key becomes a path', async () => {
  const places = [
    placeOf('k'),
    placeOf('k', { organizationId: 'o2' }),
    placeOf('k', { kind: 'overflow' }),
    placeOf('../../etc/passwd\0'),
  ]
  expect(new Set(places.map(contentName)).size).toBe(4)
  for (const place of places) expect(contentName(place)).toMatch(/^[0-9a-f]{64}$/)
  await expect(store.read('../secret')).rejects.toThrow(RangeError)
})

test('a file comes once, after it was announced', async () => {
  const name = contentName(placeOf('k'))
  expect(await store.write(name, Buffer.from('early'))).toBe(false)
  await store.announce(placeOf('k'), details)
  expect((await store.details(name))?.status).toBe('uploading')
  expect(await store.write(name, Buffer.from('first'))).toBe(true)
  expect(await store.write(name, Buffer.from('second'))).toBe(false)
  await store.announce(placeOf('k'), { ...details, contentType: 'text/html' })
  await store.noteError(name, 'late')
  expect(await store.details(name)).toMatchObject({ status: 'done', contentType: 'text/plain' })
  expect(String(await store.read(name))).toBe('first')
  expect(await store.size(name)).toBe(5)
})

test('what never came and what nobody fetched are removed after a day, what a crash left at once', async () => {
  const written = contentName(placeOf('written'))
  await store.announce(placeOf('written'), details)
  await store.write(written, Buffer.from('x'))
  await store.announce(placeOf('waiting'), details)
  const overflow = placeOf('rows', { kind: 'overflow' })
  await store.announce(overflow, details)
  await store.write(contentName(overflow), Buffer.from('{}'))
  const half = join(directory, written.slice(0, 2), `${written}.1.part`)
  writeFileSync(half, 'half')
  utimesSync(half, now / 1000, now / 1000)

  await store.tidy(unused)
  expect(filesIn(directory)).toHaveLength(5)
  expect(existsSync(half)).toBe(false)
  now += day + 1000
  await store.tidy(unused)
  expect(filesIn(directory).sort()).toEqual([written, `${written}.json`])
})

test('tidying up leaves alone what is being written', async () => {
  const name = contentName(placeOf('large'))
  await store.announce(placeOf('large'), details)
  const written = store.write(name, Buffer.alloc(50_000_000, 'x'))
  const isDone = written.then(() => true)
  const now = Promise.resolve(false)
  while (!(await Promise.race([isDone, now]))) await store.tidy(unused)
  expect(await store.size(name)).toBe(50_000_000)
})

test('a file that has no room leaves nothing behind', async () => {
  const name = contentName(placeOf('k'))
  await store.announce(placeOf('k'), details)
  // A folder in the place of the file: all of it is written, and cannot be given its name.
  mkdirSync(join(directory, name.slice(0, 2), name))
  await expect(store.write(name, Buffer.from('x'))).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
  })
  expect(filesIn(directory)).toEqual([`${name}.json`])
})

test('an attachment that nothing names goes after a week, and one whose maker is not known stays', async () => {
  const [named, old] = [placeOf('named'), placeOf('old')].map(contentName)
  await store.announce(placeOf('named'), { ...details, userId: 'u' })
  await store.write(named!, Buffer.from('x'))
  await store.announce(placeOf('old'), details)
  await store.write(old!, Buffer.from('x'))
  const path = join(directory, old!.slice(0, 2), `${old}.json`)
  const { userId: _, ...older } = JSON.parse(readFileSync(path, 'utf8')) as object & {
    userId: unknown
  }
  writeFileSync(path, JSON.stringify(older))
  now += 6 * day
  await store.tidy(unused)
  now += 2 * day
  await store.tidy(used)
  expect(filesIn(directory)).toHaveLength(4)
  await store.tidy(unused)
  expect(filesIn(directory).sort()).toEqual([old, `${old}.json`])
})

test('an upload that somebody has announced is nobody else’s', async () => {
  await store.announce(placeOf('k'), { ...details, userId: 'first' })
  const other = await store.announce(placeOf('k'), { ...details, userId: 'second' })
  expect(other.userId).toBe('first')
})

test('a link is for one action, one file and one hour, and outlives a restart', async () => {
  let time = 1_000_000
  const signer = new PathSigner(await contentSecret(directory), () => time)
  const holder = { userId: 'u', organizationId: 'o', keyId: 'k' }
  const path = signer.sign('get', 'a'.repeat(64), holder)
  const query = new URL(path, 'http://x').searchParams
  const restarted = new PathSigner(await contentSecret(directory), () => time)
  expect(restarted.verify('get', 'a'.repeat(64), query)).toEqual(holder)
  expect(() => signer.verify('put', 'a'.repeat(64), query)).toThrow('not valid')
  expect(() => signer.verify('get', 'b'.repeat(64), query)).toThrow('not valid')
  const other = new URLSearchParams(query)
  other.set('by', Buffer.from(JSON.stringify({ ...holder, userId: 'v' })).toString('base64url'))
  expect(() => signer.verify('get', 'a'.repeat(64), other)).toThrow('not valid')
  const later = new URLSearchParams(query)
  later.set('expires', String(time + 10 * day))
  expect(() => signer.verify('get', 'a'.repeat(64), later)).toThrow('not valid')
  expect(() => signer.verify('get', 'a'.repeat(64), new URLSearchParams())).toThrow('not valid')
  time += 60 * 60 * 1000
  expect(() => signer.verify('get', 'a'.repeat(64), query)).toThrow('not valid')
})

test('no link is signed with what is no secret', async () => {
  const path = join(directory, 'secret')
  const first = await contentSecret(directory)
  expect(first).toHaveLength(32)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  for (const wrong of [first.subarray(0, 31), Buffer.concat([first, first]), Buffer.alloc(32)]) {
    writeFileSync(path, wrong)
    await expect(contentSecret(directory)).rejects.toMatchObject({
      code: 'STORAGE_CORRUPT',
      message: expect.stringContaining(`${path} has `),
    })
  }
  // Nothing was ever signed with it.
  writeFileSync(path, '')
  const second = await contentSecret(directory)
  expect(second).toHaveLength(32)
  expect(await contentSecret(directory)).toEqual(second)
  expect(readdirSync(directory)).toEqual(['secret'])
})

test('a description that is damaged is named, holds up no other file, and comes back with the file', async () => {
  const bytes = Buffer.from('hello')
  for (const key of ['whole', 'damaged']) {
    await store.announce(placeOf(key), details)
    await store.write(contentName(placeOf(key)), bytes)
  }
  const name = contentName(placeOf('damaged'))
  const path = join(directory, name.slice(0, 2), `${name}.json`)
  for (const text of ['', '{"status"', 'null', '\0'.repeat(9)]) {
    writeFileSync(path, text)
    await expect(store.details(name)).rejects.toThrow(`${path} does not describe a file`)
    await store.tidy(used)
    expect(await store.details(contentName(placeOf('whole')))).toMatchObject({ status: 'done' })
    await store.announce(placeOf('damaged'), details)
    expect(await store.write(name, bytes)).toBe(true)
    expect(await store.details(name)).toMatchObject({ status: 'done' })
  }
})
