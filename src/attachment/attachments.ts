import { join } from 'node:path'
import { ContentStore } from './content-store.ts'
import { contentSecret, PathSigner } from './signed-path.ts'

/** How often what is left over is looked for. */
const tidyIntervalMs = 60 * 60 * 1000

/** Files in the folder `attachments` of a data directory, and the paths to them. */
export class Attachments {
  readonly store: ContentStore
  readonly signer: PathSigner
  readonly #timer: NodeJS.Timeout

  private constructor(store: ContentStore, signer: PathSigner, onError: (error: unknown) => void) {
    this.store = store
    this.signer = signer
    this.#timer = setInterval(() => void store.tidy().catch(onError), tidyIntervalMs).unref()
  }

  /** Removes what is left over, now and from time to time; `onError` is told when that fails later. */
  static async open(
    dataDirectory: string,
    onError: (error: unknown) => void,
  ): Promise<Attachments> {
    const directory = join(dataDirectory, 'attachments')
    const store = new ContentStore(join(directory, 'content'))
    const signer = new PathSigner(await contentSecret(directory))
    await store.tidy()
    return new Attachments(store, signer, onError)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
