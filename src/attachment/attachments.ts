import { join } from 'node:path'
import type { Catalog, CatalogView } from '../catalog/catalog.ts'
import type { NamedAttachments } from '../storage/prepare/named-attachments.ts'
import { type ContentDetails, ContentStore, contentName } from './content-store.ts'
import { contentSecret, PathSigner } from './signed-path.ts'

/** How often what is left over is looked for. */
const tidyIntervalMs = 60 * 60 * 1000

type OwnedView = CatalogView & { readonly owner?: { readonly userId: string } }

/** Files in the folder `attachments` of a data directory, and the paths to them. */
export class Attachments {
  readonly store: ContentStore
  readonly signer: PathSigner
  readonly #timer: NodeJS.Timeout

  readonly #catalog: Catalog

  private constructor(
    store: ContentStore,
    signer: PathSigner,
    catalog: Catalog,
    onError: (error: unknown) => void,
  ) {
    this.store = store
    this.signer = signer
    this.#catalog = catalog
    const tidy = () => store.tidy(catalog).catch(onError)
    this.#timer = setInterval(() => void tidy(), tidyIntervalMs).unref()
  }

  /**
   * Removes what is left over, now and from time to time; `onError` is told when that fails later.
   *
   * @param requireRoom see `ContentStoreOptions`
   */
  static async open(
    dataDirectory: string,
    catalog: Catalog,
    onError: (error: unknown) => void,
    requireRoom?: (bytes: number) => void,
  ): Promise<Attachments> {
    const directory = join(dataDirectory, 'attachments')
    const store = new ContentStore(join(directory, 'content'), { requireRoom })
    const signer = new PathSigner(await contentSecret(directory))
    await store.tidy(catalog)
    return new Attachments(store, signer, catalog, onError)
  }

  /**
   * Whether somebody may have a file: who may read all of an object that names it. Until one does,
   * that is who announced it; of older files that is not known, and their keys are told to readers
   * only.
   */
  mayRead(name: string, { userId }: ContentDetails, view: CatalogView, reader: string | null) {
    const { isNamed, objects } = this.#catalog.filePlaces(name)
    const isReadable = objects.some(({ type, id }) => {
      const object = view.readable(type, id)
      return object !== undefined && object.visibleIds === undefined
    })
    return isReadable || userId === undefined || (!isNamed && userId === reader)
  }

  /**
   * To be called once rows that name these are on disk. Who writes the key of a file that is not for them gives nobody
   * a right to it.
   */
  async noteNamed(named: readonly NamedAttachments[], view: OwnedView): Promise<void> {
    for (const { object, keys } of named) {
      await this.#catalog.noteFiles(await this.#filesFor(keys, view), object)
    }
  }

  /** The stored names of those files of the keys that the writer may have. */
  async #filesFor(keys: readonly string[], view: OwnedView): Promise<string[]> {
    const organizationId = view.organization().id
    const writer = view.owner?.userId || null
    const names: string[] = []
    for (const key of keys) {
      const name = contentName({ organizationId, kind: 'attachment', key })
      const details = await this.store.details(name)
      if (!details || this.mayRead(name, details, view, writer)) names.push(name)
    }
    return names
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
