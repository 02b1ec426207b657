import { join } from 'node:path'
import type { Catalog, CatalogView } from '../catalog/catalog.ts'
import type { ObjectReference } from '../type/record.ts'
import { type ContentDetails, ContentStore, contentName } from './content-store.ts'
import { mayNameAttachments, namedAttachments, type WrittenRows } from './named-attachments.ts'
import { contentSecret, PathSigner } from './signed-path.ts'

/** How often what is left over is looked for. */
const tidyIntervalMs = 60 * 60 * 1000

/** Files that rows of an object name, by their stored names. */
export interface NamedFiles {
  readonly names: readonly string[]
  readonly object: ObjectReference
}

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
   * The files that rows name. Who writes the key of a file that is not for them gives nobody a right
   * to it.
   */
  async namedBy({ view, ...rows }: WrittenRows & { readonly view: OwnedView }) {
    const named: NamedFiles[] = []
    if (!mayNameAttachments(rows.body)) return named
    const organizationId = view.organization().id
    for (const { object, keys } of await namedAttachments(rows)) {
      const names: string[] = []
      for (const key of keys) {
        const name = contentName({ organizationId, kind: 'attachment', key })
        const details = await this.store.details(name)
        const writer = view.owner?.userId || null
        if (!details || this.mayRead(name, details, view, writer)) names.push(name)
      }
      named.push({ names, object })
    }
    return named
  }

  /** To be called once the rows are on disk. */
  async noteNamed(named: readonly NamedFiles[]): Promise<void> {
    for (const { names, object } of named) await this.#catalog.noteFiles(names, object)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
