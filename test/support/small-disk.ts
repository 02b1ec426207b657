/** A disk of a few megabytes in memory, for tests of what happens when it is full. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class SmallDisk {
  readonly directory: string

  private constructor(directory: string) {
    this.directory = directory
  }

  /** Whether file systems may be mounted here; printed where they may not. */
  static canMount(): boolean {
    if (process.platform !== 'linux') return false
    try {
      SmallDisk.mount(1).unmount()
      return true
    } catch (error) {
      console.log(`left out: no file system can be mounted here (${String(error)})`)
      return false
    }
  }

  static mount(megabytes: number): SmallDisk {
    const directory = mkdtempSync(join(tmpdir(), 'assay-disk-'))
    const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', directory]
    const { status, stderr } = spawnSync('mount', options, { encoding: 'utf8' })
    if (status === 0) return new SmallDisk(directory)
    rmSync(directory, { recursive: true })
    throw new Error(stderr?.trim() || 'there is no command to mount with')
  }

  /** One that another process has mounted. */
  static at(directory: string): SmallDisk {
    return new SmallDisk(directory)
  }

  get #filler(): string {
    return join(this.directory, 'filler')
  }

  /** Takes all that is free but for some bytes. */
  fill(leftBytes = 0): void {
    const file = openSync(this.#filler, 'a')
    try {
      for (let piece = 2 ** 20; piece >= 4096; ) {
        try {
          const written = writeSync(file, Buffer.alloc(piece, 'x'))
          if (written < piece) piece /= 2
        } catch {
          piece /= 2
        }
      }
    } finally {
      closeSync(file)
    }
    if (leftBytes > 0) spawnSync('truncate', ['-s', `-${leftBytes}`, this.#filler])
  }

  /** There is room again. */
  empty(): void {
    rmSync(this.#filler, { force: true })
  }

  unmount(): void {
    const { status } = spawnSync('umount', [this.directory])
    // Whoever still has a file of it open keeps it until then.
    if (status !== 0) spawnSync('umount', ['-l', this.directory])
    rmSync(this.directory, { recursive: true, force: true })
  }
}
