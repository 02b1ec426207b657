import pino from 'pino'
import { build as readableLines } from 'pino-pretty'
import type { LogLevel } from '../config.ts'

export type Logger = pino.Logger

/** Lines are written together when they have so many characters, or after so long. */
const bufferedLength = 8192
const flushMs = 100

/**
 * JSON lines on standard output, written a few at a time: a system call for each would cost a small
 * request a tenth of its time. What is left is written when the process ends by itself, which a
 * process that is killed cannot do. Nothing that is logged may hold a key or a body.
 * @param isForPeople lines that a person reads, each at once, in place of JSON
 */
export function createLogger(level: LogLevel, isForPeople = false): Logger {
  if (level === 'silent') return pino({ level })
  if (isForPeople) {
    const form = { sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss' }
    return pino({ level, base: null }, readableLines(form))
  }
  const lines = new Lines(pino.destination({ fd: 1, sync: true }))
  process.on('exit', () => lines.flush())
  return pino({ level, base: null, timestamp: timestamps() }, lines)
}

/** Pino's own buffer counts the bytes of all that is in it at each line, which is half of a line's time. */
class Lines {
  readonly #destination: { write(text: string): unknown }
  #text = ''

  constructor(destination: { write(text: string): unknown }) {
    this.#destination = destination
    setInterval(() => this.flush(), flushMs).unref()
  }

  write(line: string): void {
    this.#text += line
    if (this.#text.length >= bufferedLength) this.flush()
  }

  flush(): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    this.#destination.write(text)
  }
}

/** Times in ISO 8601, each written once for all lines of a millisecond. */
function timestamps(): () => string {
  let last = Number.NaN
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) {
      last = now
      text = `,"time":"${new Date(now).toISOString()}"`
    }
    return text
  }
}
