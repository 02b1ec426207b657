/**
 * Preloaded by `node --import` into a process whose clock jumps, also while it runs: `ASSAY_TEST_CLOCK` names a file that has
 * by how many milliseconds it is wrong.
 */
import { readFileSync } from 'node:fs'

const everyMs = 100
const { now } = Date
let [shift, readAt] = [0, Number.NEGATIVE_INFINITY]

function shiftedNow() {
  const at = performance.now()
  if (at > readAt + everyMs) {
    readAt = at
    try {
      shift = Number(readFileSync(process.env.ASSAY_TEST_CLOCK, 'utf8'))
    } catch {
      shift = 0
    }
  }
  return now() + shift
}

globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [shiftedNow()] : given))
  }

  static now() {
    return shiftedNow()
  }
}
