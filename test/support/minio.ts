/** MinIO, a server that speaks S3: built from its source once, where Go is there. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { S3Settings } from '../../src/object-store/s3-settings.ts'
import { freePort } from './free-port.ts'
import { findTool, madeOnce, run, wasMade } from './language-tools.ts'
import { isSlow } from './random-seed.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

const source = 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c'

const go = findTool(
  'S3 (MinIO is built with Go)',
  ['go', 'version'],
  (text) => Number(/go1\.(\d+)/.exec(text)?.[1]) >= 24,
)
/** To build it takes some minutes of two processors, which the slow suite has. */
const mayBuild = isSlow || wasMade('minio', [source])
if (go !== undefined && !mayBuild) console.log('Left out: S3, as MinIO is built by the slow suite')
export const minioMissing = go === undefined || !mayBuild

/** Where the program is. */
export async function minioProgram(): Promise<string> {
  const made = await madeOnce('minio', [source], async (folder) => {
    await mkdir(folder, { recursive: true })
    const env = { ...process.env, GOBIN: folder, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' }
    await run('go', ['install', '-trimpath', '-ldflags=-s -w', source], { env })
  })
  return join(made, 'minio')
}

const user = 'assay-test'
const password = 'assay-test-password'

export class Minio {
  readonly endpoint: string
  readonly #child: ChildProcess
  readonly #folder: string

  private constructor(endpoint: string, child: ChildProcess, folder: string) {
    this.endpoint = endpoint
    this.#child = child
    this.#folder = folder
  }

  /** With buckets of these names, which are folders to it. */
  static async start(buckets: readonly string[]): Promise<Minio> {
    const folder = await makeTemporaryDirectory('minio')
    for (const bucket of buckets) await mkdir(join(folder, bucket))
    const port = await freePort()
    const child = spawn(
      await minioProgram(),
      ['server', '--quiet', '--address', `127.0.0.1:${port}`, folder],
      {
        stdio: 'ignore',
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          MINIO_ROOT_USER: user,
          MINIO_ROOT_PASSWORD: password,
          MINIO_BROWSER: 'off',
        },
      },
    )
    const minio = new Minio(`http://127.0.0.1:${port}`, child, folder)
    await minio.#isUp()
    return minio
  }

  get settings(): S3Settings {
    return {
      endpoint: this.endpoint,
      region: 'us-east-1',
      isPathStyle: true,
      credentials: { accessKeyId: user, secretAccessKey: password },
    }
  }

  /** What a service or a command is told of it. */
  get environment(): Record<string, string> {
    return {
      ASSAY_S3_ENDPOINT: this.endpoint,
      ASSAY_S3_ACCESS_KEY_ID: user,
      ASSAY_S3_SECRET_ACCESS_KEY: password,
    }
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #isUp(): Promise<void> {
    for (let tries = 0; tries < 300; tries++) {
      const answer = await fetch(`${this.endpoint}/minio/health/live`).catch(() => undefined)
      if (answer?.ok) return
      if (this.#child.exitCode !== null) break
      await wait(50)
    }
    throw new Error('MinIO does not start')
  }
}
