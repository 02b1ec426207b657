import { SingleBar } from 'cli-progress'
import { Checksum } from './checksum.ts'
import type { ImportRow } from './import-row.ts'
import type { ImportSource } from './import-source.ts'
import type { ImportTotal } from './import-state.ts'

/** Bad lines that are reported one by one; of more than that, only the count is told. */
const reportedLines = 1000

/** What has been read and sent so far; a bar on a terminal. */
export class ImportProgress {
  #badLines = 0
  readonly #bar: SingleBar | undefined
  readonly #startedAt = performance.now()
  readonly #sources: string
  #checksum = new Checksum()
  #rowCount = 0
  #readSize = 0

  /** @param sizes of the sources, in what `read` counts; undefined where not known */
  constructor(sizes: readonly (number | undefined)[], areObjects: boolean) {
    const noun = areObjects ? 'object' : 'file'
    this.#sources = sizes.length === 1 ? `1 ${noun}` : `${sizes.length} ${noun}s`
    if (!process.stderr.isTTY) return
    const known = sizes.every((size) => size !== undefined)
    const total = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
    const format = known
      ? '{bar} {percentage}% | {rows} rows | {eta_formatted} left'
      : '{rows} rows | {duration_formatted}'
    this.#bar = new SingleBar({ format, stream: process.stderr, hideCursor: true })
    this.#bar.start(Math.max(total, 1), 0, { rows: 0 })
  }

  /** What has been sent, in this run and those before. */
  get total(): ImportTotal {
    return {
      rows: this.#rowCount,
      badLines: this.#badLines,
      checksum: this.#checksum.toString(),
    }
  }

  /** Begins with what an earlier run has sent. */
  goOn({ rows, badLines, checksum }: ImportTotal): void {
    this.#rowCount = rows
    this.#badLines = badLines
    this.#checksum = new Checksum(checksum)
    process.stderr.write(`going on after ${rows.toLocaleString('en')} rows\n`)
  }

  read(size: number): void {
    this.#readSize += size
    this.#update()
  }

  sent(rows: readonly ImportRow[]): void {
    this.#rowCount += rows.length
    for (const { bytes } of rows) this.#checksum.add(bytes)
    this.#update()
  }

  bad({ label, unit }: Pick<ImportSource, 'label' | 'unit'>, line: number, reason: string): void {
    this.#badLines++
    if (this.#badLines > reportedLines) return
    const end = this.#bar ? '\x1b[K\n' : '\n'
    process.stderr.write(`${label}, ${unit} ${line}: ${reason.split('\n')[0]}${end}`)
  }

  stop(): void {
    this.#bar?.stop()
  }

  summarize(): void {
    const seconds = (performance.now() - this.#startedAt) / 1000
    const rate = Math.round(this.#rowCount / seconds).toLocaleString('en')
    const rows = `${this.#rowCount.toLocaleString('en')} ${this.#rowCount === 1 ? 'row' : 'rows'}`
    const bad = this.#badLines === 0 ? '' : `; ${this.#badLines} bad lines left out`
    process.stderr.write(
      `imported ${rows} of ${this.#sources} in ${seconds.toFixed(1)} s (${rate} a second)${bad}\n` +
        `checksum ${this.#checksum}\n`,
    )
  }

  #update(): void {
    this.#bar?.update(this.#readSize, { rows: this.#rowCount.toLocaleString('en') })
  }
}
