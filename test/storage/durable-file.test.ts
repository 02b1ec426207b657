import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  DurableFile,
  makeDurablySync,
  makeFolder,
  writeDurably,
  writeDurablySync,
} from '../../src/storage/durable-file.ts'

let directory: string
let umask: number
beforeEach(() => {
  umask = process.umask(0)
  directory = mkdtempSync(join(tmpdir(), 'assay-durable-'))
})
afterEach(() => {
  process.umask(umask)
  rmSync(directory, { recursive: true })
})

const modeOf = (path: string) => statSync(path).mode & 0o777

test('a file is the owner’s alone, whatever the umask, and nothing else is left', async () => {
  const path = join(directory, 'f')
  await writeDurably(path, 'first')
  expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['first', 0o600])
  writeDurablySync(path, 'second')
  expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['second', 0o600])
  expect(readdirSync(directory)).toEqual(['f'])
})

test('a file that is there is not made again', () => {
  const path = join(directory, 'f')
  expect(makeDurablySync(path, 'first')).toBe(true)
  expect(makeDurablySync(path, 'second')).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe('first')
  expect(readdirSync(directory)).toEqual(['f'])
})

test('what cannot get its name leaves nothing behind', async () => {
  const path = join(directory, 'f')
  mkdirSync(path)
  await expect(writeDurably(path, 'text')).rejects.toThrow('EISDIR')
  expect(() => writeDurablySync(path, 'text')).toThrow('EISDIR')
  expect(readdirSync(directory)).toEqual(['f'])
})

test('a file that comes bit by bit is there when it is kept, and not when it is abandoned', async () => {
  const path = join(directory, 'f')
  const abandoned = await DurableFile.create(path)
  await abandoned.handle.write('bits')
  await abandoned.abandon()
  expect(readdirSync(directory)).toEqual([])
  const kept = await DurableFile.create(path)
  await kept.handle.write('bits')
  expect(() => statSync(path)).toThrow('ENOENT')
  await kept.keep()
  expect(readFileSync(path, 'utf8')).toBe('bits')
  expect(readdirSync(directory)).toEqual(['f'])
})

test('folders are made with those that they are in', async () => {
  await makeFolder(join(directory, 'a/b/c'))
  for (const made of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(directory, made))).toBe(0o700)
  await makeFolder(join(directory, 'a/b/c'))
})
