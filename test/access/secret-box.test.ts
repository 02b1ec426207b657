import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { previewSecret, SecretBox } from '../../src/access/secret-box.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'assay-secrets-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

test('what is sealed opens with the key of the directory, which only its owner can read', () => {
  const sealed = SecretBox.open(directory).seal('päss', 'mine')
  expect(SecretBox.open(directory).unseal(sealed, 'mine')).toBe('päss')
  expect(statSync(join(directory, 'secret.key')).mode & 0o777).toBe(0o600)
})

test('nothing opens with another key, for another owner, or when it was changed', () => {
  const box = SecretBox.open(directory, { given: 'a'.repeat(64) })
  const sealed = box.seal('secret', 'mine')
  const changed = Buffer.from(sealed, 'base64')
  changed[changed.length - 1]! ^= 1
  const wrong = [
    () => SecretBox.open(directory, { given: 'b'.repeat(64) }).unseal(sealed, 'mine'),
    () => box.unseal(sealed, 'theirs'),
    () => box.unseal(changed.toString('base64'), 'mine'),
    () => box.unseal('', 'mine'),
  ]
  for (const open of wrong) expect(open).toThrow(/cannot be read with the key/)
})

test('the same secret is never sealed the same way twice', () => {
  const box = SecretBox.open(directory)
  expect(box.seal('x', 'mine')).not.toBe(box.seal('x', 'mine'))
})

test('a broken key is refused, not replaced', () => {
  writeFileSync(join(directory, 'secret.key'), 'broken')
  expect(() => SecretBox.open(directory)).toThrow(/64 hexadecimal digits/)
  expect(() => SecretBox.open(directory, { given: 'short' })).toThrow(/ASSAY_SECRET_KEY/)
  expect(readFileSync(join(directory, 'secret.key'), 'utf8')).toBe('broken')
})

const path = () => join(directory, 'secret.key')

test.each(['', '\n'])('an empty key is made anew while nothing was sealed with it', (text) => {
  writeFileSync(path(), text)
  const sealed = SecretBox.open(directory).seal('päss', 'mine')
  expect(SecretBox.open(directory).unseal(sealed, 'mine')).toBe('päss')
})

test('a key that is empty, missing or another one is refused when it does not open what is stored', () => {
  const stored = [{ sealed: SecretBox.open(directory).seal('päss', 'mine'), owner: 'mine' }]
  const right = readFileSync(path(), 'utf8')
  SecretBox.open(directory, { stored })
  const open = (more = {}) => SecretBox.open(directory, { stored, ...more })
  const given = 'b'.repeat(64)
  const isOther = 'opens none of the stored secret'
  expect(() => open({ given })).toThrow(`the key of ASSAY_SECRET_KEY ${isOther}`)
  writeFileSync(path(), `${given}\n`)
  expect(open).toThrow(`the key of ${path()} ${isOther}`)
  writeFileSync(path(), '')
  expect(open).toThrow(`${path()} is empty, and its key was used for the stored secret`)
  rmSync(path())
  expect(open).toThrow(`${path()} is missing, and its key was used for the stored secret`)
  expect(readdirSync(directory)).toEqual([])
  writeFileSync(path(), right)
  expect(open().unseal(stored[0]!.sealed, 'mine')).toBe('päss')
})

test('a lost key can be given up, and a key that opens some of what is stored is enough', () => {
  const lost = { sealed: SecretBox.open(directory).seal('old', 'mine'), owner: 'mine' }
  rmSync(path())
  const box = SecretBox.open(directory, { stored: [lost], isForgetting: true })
  const stored = [lost, { sealed: box.seal('new', 'mine'), owner: 'mine' }]
  expect(SecretBox.open(directory, { stored }).unseal(stored[1]!.sealed, 'mine')).toBe('new')
})

test('a preview shows little of what is long, and nothing of what is short', () => {
  expect(previewSecret('sk-0123456789abcdef')).toBe('***cdef')
  expect(previewSecret('short')).toBe('***')
})
