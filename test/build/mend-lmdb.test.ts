/** The LMDB binding is mended when the service is built, or the build says that it cannot be. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mendLmdb } from '../../src/build/mend-lmdb.mjs'

const folder = `node_modules/@lmdb/lmdb-${process.platform}-${process.arch}`
const isMended = process.platform === 'linux' && existsSync(folder)
const bindings = isMended ? readdirSync(folder).filter((name) => name.endsWith('.node')) : []

test.each(bindings)('%s has the faults, or none of them any more', (name) => {
  const mended = mendLmdb(readFileSync(join(folder, name)), name)
  expect(mended.includes('Attempting to write page at position %u, size')).toBe(false)
  expect(mendLmdb(mended, name).equals(mended)).toBe(true)
})

test.runIf(isMended && process.version.startsWith('v20.'))(
  'sources and builds have one file, so that a process that runs both has LMDB once',
  () => {
    const abi = process.versions.modules
    const built = `dist/native/${process.platform}-${process.arch}/lmdb.abi${abi}.glibc.node`
    expect(statSync(built).ino).toBe(statSync(`${folder}/node.abi${abi}.glibc.node`).ino)
  },
)

test.runIf(isMended)('a binding with other code is refused, by its name', () => {
  const [name] = bindings
  const binding = readFileSync(join(folder, name!))
  const text = binding.indexOf('Attempting to write page')
  const other = Buffer.from(binding)
  other.write('Trying', text)
  expect(() => mendLmdb(other, 'lmdb.node')).toThrow(
    'lmdb.node: src/build/mend-lmdb.mjs does not find the text of pages that cannot be written.',
  )
  expect(() => mendLmdb(binding.subarray(text, text + 4096), 'lmdb.node')).toThrow(
    'lmdb.node: src/build/mend-lmdb.mjs does not find the code of environments',
  )
})
