/**
 * Mends the LMDB binding. When a page cannot be written (a full or failing disk), lmdb 3.5.6 prints what it tried into
 * 100 bytes that the text does not always fit into; what lies behind them is overwritten, and the process ends. Here
 * the format of that text is cut short, so that it fits. Elsewhere than on Linux binaries are signed and stay as they are.
 */
import { chmodSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const format = Buffer.from(
  'Attempting to write page at position %u, size %u, blocks %u, buffer sizes',
)
const short = Buffer.from('Attempting to write page at position %u\0')

/** The binding with shorter texts; undefined if it has none that is too long. */
export function mendLmdb(binding) {
  if (!binding.includes(format)) return undefined
  const bytes = Buffer.from(binding)
  for (let at = bytes.indexOf(format); at >= 0; at = bytes.indexOf(format, at + 1)) {
    short.copy(bytes, at)
  }
  return bytes
}

/** Mends those of an installed package, for what runs from the sources. They are replaced, as others may have them mapped. */
export function mendInstalled(folder) {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.node'))) {
    const file = join(folder, name)
    const mended = mendLmdb(readFileSync(file))
    if (mended === undefined) continue
    const part = `${file}.${process.pid}.part`
    writeFileSync(part, mended)
    chmodSync(part, statSync(file).mode)
    renameSync(part, file)
  }
}
