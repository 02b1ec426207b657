import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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
  const sealed = SecretBox.open(directory, undefined).seal('päss', 'mine')
  expect(SecretBox.open(directory, undefined).unseal(sealed, 'mine')).toBe('päss')
  expect(statSync(join(directory, 'secret.key')).mode & 0o777).toBe(0o600)
})

test('nothing opens with another key, for another owner, or when it was changed', () => {
  const box = SecretBox.open(directory, 'a'.repeat(64))
  const sealed = box.seal('secret', 'mine')
  const changed = Buffer.from(sealed, 'base64')
  changed[changed.length - 1]! ^= 1
  const wrong = [
    () => SecretBox.open(directory, 'b'.repeat(64)).unseal(sealed, 'mine'),
    () => box.unseal(sealed, 'theirs'),
    () => box.unseal(changed.toString('base64'), 'mine'),
    () => box.unseal('', 'mine'),
  ]
  for (const open of wrong) expect(open).toThrow(/cannot be read with the key/)
})

test('the same secret is never sealed the same way twice', () => {
  const box = SecretBox.open(directory, undefined)
  expect(box.seal('x', 'mine')).not.toBe(box.seal('x', 'mine'))
})

test('a broken key is refused, not replaced', () => {
  writeFileSync(join(directory, 'secret.key'), 'broken')
  expect(() => SecretBox.open(directory, undefined)).toThrow(/64 hexadecimal digits/)
  expect(() => SecretBox.open(directory, 'short')).toThrow(/ASSAY_SECRET_KEY/)
  expect(readFileSync(join(directory, 'secret.key'), 'utf8')).toBe('broken')
})

test('a preview shows little of what is long, and nothing of what is short', () => {
  expect(previewSecret('sk-0123456789abcdef')).toBe('***cdef')
  expect(previewSecret('short')).toBe('***')
})
