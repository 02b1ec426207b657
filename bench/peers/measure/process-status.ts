/** What Linux tells about a process. */
import { readdirSync, readFileSync } from 'node:fs'

/** `USER_HZ`, which is 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Time on processors so far, of all threads. */
export function cpuMs(pid: number): number {
  return readStat(`/proc/${pid}/stat`).cpuMs
}

/** The same of the threads that are there and stand back as far as `niceness`. */
export function niceCpuMs(pid: number, niceness: number): number {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks)
    .map((thread) => readStat(`${tasks}/${thread}/stat`))
    .reduce((sum, stat) => sum + (stat.niceness === niceness ? stat.cpuMs : 0), 0)
}

function readStat(path: string) {
  const fields = readFileSync(path, 'utf8')
  // The name of the program stands in parentheses and may have blanks.
  const rest = fields.slice(fields.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(rest[11]) + Number(rest[12])
  return { cpuMs: (ticks * 1000) / ticksPerSecond, niceness: Number(rest[16]) }
}

/** Resident memory without the pages of mapped files. */
export function anonymousBytes(pid: number): number {
  const line = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1]) * 1024
}

/** The most anonymous memory that a process has had while this was watching. */
export class MemoryWatch {
  peakBytes = 0
  readonly #timer: NodeJS.Timeout

  constructor(pid: number, everyMs = 50) {
    const look = () => {
      this.peakBytes = Math.max(this.peakBytes, anonymousBytes(pid))
    }
    look()
    this.#timer = setInterval(look, everyMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
