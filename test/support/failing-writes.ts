/** Lets the writes of a service fail as a disk does, by a library that is compiled here and preloaded. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

const source = new URL('failing-writes.c', import.meta.url).pathname

export class FailingWrites {
  readonly #directory = mkdtempSync(join(tmpdir(), 'assay-fault-'))

  /** Undefined where there is no compiler, which is printed. */
  static build(): FailingWrites | undefined {
    const failing = new FailingWrites()
    const options = ['-shared', '-fPIC', '-O1', '-o', failing.#library, source, '-ldl']
    if (spawnSync('cc', options).status === 0) return failing
    failing.remove()
    console.log('left out: there is no C compiler (cc) here')
    return undefined
  }

  get #library(): string {
    return join(this.#directory, 'failing-writes.so')
  }

  get #control(): string {
    return join(this.#directory, 'fault')
  }

  /** For the process whose writes below a folder may fail. */
  environment(under: string): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      ASSAY_FAULT: this.#control,
      ASSAY_FAULT_UNDER: under,
    }
  }

  /** From now on every write fails like this. */
  fail(how: 'ENOSPC' | 'EIO'): void {
    writeFileSync(this.#control, String(constants.errno[how]))
  }

  mend(): void {
    rmSync(this.#control, { force: true })
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
