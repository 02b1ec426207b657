/**
 * What waits for its turn, by when it is due: a heap. What is due first leaves first, and of things
 * that are due at the same time the one that came first.
 */
interface Entry<Item> {
  readonly item: Item
  readonly due: number
  readonly number: number
}

export class FairQueue<Item> {
  #heap: Entry<Item>[] = []
  #nextNumber = 0

  get size(): number {
    return this.#heap.length
  }

  /** `due` is a time of any clock that all items share. */
  push(item: Item, due: number): void {
    this.#insert({ item, due, number: this.#nextNumber++ })
  }

  /** Takes out what is due first. */
  shift(): Item | undefined {
    const [first] = this.#heap
    const last = this.#heap.pop()
    if (!first || !last) return undefined
    if (this.#heap.length > 0) this.#sink(last)
    return first.item
  }

  /** Takes out all items that `matches` is true of, in no order. */
  take(matches: (item: Item) => boolean): Item[] {
    const taken = this.#heap.filter(({ item }) => matches(item))
    if (taken.length === 0) return []
    const kept = this.#heap.filter(({ item }) => !matches(item))
    this.#heap = []
    for (const entry of kept) this.#insert(entry)
    return taken.map(({ item }) => item)
  }

  #insert(entry: Entry<Item>): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(entry, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = entry
  }

  /** Puts an entry in the place of the first. */
  #sink(entry: Entry<Item>): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, entry)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = entry
  }
}

function isBefore<Item>(a: Entry<Item>, b: Entry<Item>): boolean {
  return a.due < b.due || (a.due === b.due && a.number < b.number)
}
