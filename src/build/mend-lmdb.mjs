/**
 * Mends the LMDB binding, lmdb 3.5.6, in two places, and fits it to Node 24. Elsewhere than on Linux binaries are signed
 * and stay as they are.
 *
 * - When a page cannot be written (a full or failing disk), it prints what it tried into 100 bytes that the text does not
 *   always fit into; what lies behind them is overwritten, and the process ends. Here the format of that text is cut
 *   short, so that it fits.
 * - When an environment cannot be opened (a file or a map that fails), it frees what it has for the environment, and then
 *   closes the environment, which frees it again: the process ends without a word. Here the first is passed over.
 */
import { chmodSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const format = Buffer.from(
  'Attempting to write page at position %u, size %u, blocks %u, buffer sizes',
)
const short = Buffer.from('Attempting to write page at position %u\0')

/**
 * The machine code of `EnvWrap::openEnv` that frees what closing will free: where in it the branch is that leads past
 * that if there is nothing to free, and one that always does, which may be there already.
 */
const freeing = [
  {
    // x86-64: test rbx, rbx; je …
    code: /4885db(?:74|eb)154889dfe8.{8}be.{8}4889dfe8.{8}837d..0a75/g,
    at: 3,
    branch: Buffer.of(0xeb),
  },
  {
    // AArch64: cmp x19, 0; b.eq …
    code: /7f0200f1(?:c0000054|06000014)e00313aa.{6}94.{4}80d2e00313aa.{6}97.{6}b91f280071/g,
    at: 4,
    branch: Buffer.of(0x06, 0x00, 0x00, 0x14),
  },
]

/**
 * The binding without these faults, which may be as it was.
 *
 * @param name what a message calls it
 * @throws where it has other code than that of which these faults are known: nobody should get it unawares
 */
export function mendLmdb(binding, name) {
  const bytes = Buffer.from(binding)
  if (!shortenFormat(bytes)) throw unknown(name, 'the text of pages that cannot be written')
  if (!passOverFreeing(bytes)) throw unknown(name, 'the code of environments that cannot be opened')
  return bytes
}

/** False where the text is neither there nor short. */
function shortenFormat(bytes) {
  for (let at = bytes.indexOf(format); at >= 0; at = bytes.indexOf(format, at + 1)) {
    short.copy(bytes, at)
  }
  return bytes.includes(short)
}

function passOverFreeing(bytes) {
  const digits = bytes.toString('hex')
  let isFound = false
  for (const { code, at, branch } of freeing) {
    for (const { index } of digits.matchAll(code)) {
      // Not from the middle of a byte.
      if (index % 2 !== 0) continue
      branch.copy(bytes, index / 2 + at)
      isFound = true
    }
  }
  return isFound
}

function unknown(name, what) {
  return new Error(
    `${name}: src/build/mend-lmdb.mjs does not find ${what}. See whether this version of lmdb still has the fault, ` +
      'and change that file, or take the step out',
  )
}

/** What the binding takes off V8's count of memory, and a function that has the same parameters and counts nothing. */
const [uncounting, counting] = ['napi_adjust_external_memory', 'napi_create_int64'].map((name) =>
  Buffer.from(`\0${name}\0`),
)

/**
 * The binding for Node 22 as it fits Node 24, for which there is none but that of any version, which copies each value of
 * many megabytes into every thread that reads it. What it asks of V8 is there under the same names, but for what lmdb
 * calls in the version alone that it was made for. It takes the maps off the memory that V8 counts, as they are none, but
 * V8 does so again when a thread ends: since that version it ends the process where less than nothing is left. Here
 * another function is called in the place of the one that counts.
 */
export function fitNode24(binding) {
  const bytes = Buffer.from(binding)
  // The first is what the loader goes by; those behind it are for debuggers.
  const at = bytes.indexOf(uncounting)
  if (at < 0) throw new Error('the binding of lmdb is not the one that is known to fit Node 24')
  bytes.fill(0, at, at + uncounting.length)
  counting.copy(bytes, at)
  return bytes
}

/** Mends those of an installed package, for what runs from the sources. They are replaced, as others may have them mapped. */
export function mendInstalled(folder) {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.node'))) {
    const file = join(folder, name)
    const binding = readFileSync(file)
    const mended = mendLmdb(binding, file)
    if (mended.equals(binding)) continue
    const part = `${file}.${process.pid}.part`
    writeFileSync(part, mended)
    chmodSync(part, statSync(file).mode)
    renameSync(part, file)
  }
}
