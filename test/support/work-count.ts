/**
 * Counts what a request looks up and decides. Of two requests that differ only in whether something is
 * there, equal counts say what no clock can: that the time does not tell them apart.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Grants } from '../../src/access/decide.ts'
import { EntryStore } from '../../src/catalog/entry-store.ts'
import { KindTable } from '../../src/catalog/kind-table.ts'
import { ObjectIndex } from '../../src/catalog/object-index.ts'
import { Engine } from '../../src/engine.ts'
import { RequestBody } from '../../src/server/body.ts'
import { Router } from '../../src/server/route.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'

const counted: readonly (readonly [what: string, of: object, method: string])[] = [
  ['decisions', Grants.prototype, 'at'],
  ['entries by id', KindTable.prototype, 'get'],
  ['entries by key', KindTable.prototype, 'keyed'],
  ['objects', ObjectIndex.prototype, 'get'],
  ['removed entries', EntryStore.prototype, 'deleted'],
  ['queries', Engine.prototype, 'query'],
  ['record ids', RecordReader.prototype, 'has'],
]

/** Which request something is done for: a service also does things by itself, as its rounds of retention. */
const request = new AsyncLocalStorage<Map<string, number>>()

/** One request at a time. */
export class WorkCount {
  readonly #undo: readonly (() => void)[]
  #calls = new Map<string, number>()

  constructor() {
    const note = (what: string) => {
      if (request.getStore() === this.#calls) {
        this.#calls.set(what, (this.#calls.get(what) ?? 0) + 1)
      }
    }
    this.#undo = [
      // Each request begins by finding its route.
      before(Router.prototype, 'match', () => request.enterWith(this.#calls)),
      // A body that comes late calls from outside of its request.
      replace(RequestBody.prototype, 'whenSettled', (call, settled) =>
        call(AsyncLocalStorage.bind(settled as () => unknown)),
      ),
      ...counted.map(([what, of, method]) => before(of, method, () => note(what))),
    ]
  }

  reset(): void {
    this.#calls = new Map()
  }

  /** Of the request since it was reset. */
  get counts(): string {
    return counted.map(([what]) => `${this.#calls.get(what) ?? 0} ${what}`).join(', ')
  }

  stop(): void {
    for (const undo of this.#undo) undo()
  }
}

/** Has `work` done before each call of a method; returns what undoes that. */
function before(of: object, method: string, work: () => void): () => void {
  return replace(of, method, (call, ...given) => {
    work()
    return call(...given)
  })
}

type Call = (...given: readonly unknown[]) => unknown

/** Has another function called in the place of a method, which is given as the first argument; returns what undoes that. */
function replace(
  of: object,
  method: string,
  other: (call: Call, ...given: readonly unknown[]) => unknown,
): () => void {
  const own = Object.getOwnPropertyDescriptor(of, method)!
  const call = own.value as Call
  const value = function (this: unknown, ...given: readonly unknown[]) {
    return other((...passed) => call.apply(this, [...passed]), ...given)
  }
  Object.defineProperty(of, method, { ...own, value })
  return () => Object.defineProperty(of, method, own)
}
