/**
 * Mends the LMDB binding where it is installed. When a page cannot be written (a full or failing disk), lmdb 3.5.6
 * prints what it tried into 100 bytes that the text does not always fit into; what lies behind them is
 * overwritten, and the process ends. Here the format of that text is cut short, so that it fits.
 *
 * Run by npm after it has installed something. Files are replaced, not written to: others may have them
 * mapped. Elsewhere than on Linux binaries are signed and stay as they are.
 */
import { chmodSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// Beside the package, which lies in `lmdb/dist`.
const folder = join(dirname(createRequire(import.meta.url).resolve('lmdb')), '../../@lmdb')
const format = Buffer.from(
  'Attempting to write page at position %u, size %u, blocks %u, buffer sizes',
)
const short = Buffer.from('Attempting to write page at position %u\0')

if (process.platform === 'linux') {
  for (const file of bindings()) {
    const bytes = readFileSync(file)
    let isMended = false
    for (let at = bytes.indexOf(format); at >= 0; at = bytes.indexOf(format, at + 1)) {
      short.copy(bytes, at)
      isMended = true
    }
    if (!isMended) continue
    writeFileSync(`${file}.part`, bytes)
    chmodSync(`${file}.part`, statSync(file).mode)
    renameSync(`${file}.part`, file)
  }
}

function bindings() {
  try {
    return readdirSync(folder, { recursive: true })
      .map((name) => join(folder, String(name)))
      .filter((path) => path.endsWith('.node'))
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}
