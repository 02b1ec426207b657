/** Hosts that send each other messages in a time of their own, all of it decided by one seed. */
import { setImmediate } from 'node:timers/promises'

interface Event {
  readonly at: number
  readonly number: number
  readonly run: () => void
}

export class Host {
  readonly name: string
  isUp = true
  /** How often it has begun anew: what was on its way to an earlier life is lost. */
  life = 0
  /** Until then nothing that comes to it is taken. */
  pausedUntil = 0

  constructor(name: string) {
    this.name = name
  }
}

export class Lost extends Error {}

/** A message takes as long; some take this many times as long. */
const [shortest, longest, slowed] = [1, 10, 30]

/** Who asks gives up then. */
const patience = 120

export class Simulation {
  now = 0
  readonly #cut = new Set<string>()
  #events: Event[] = []
  #numbers = 0
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1 (mulberry32). */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1))
  }

  pick<Of>(list: readonly Of[]): Of {
    return list[this.between(0, list.length - 1)]!
  }

  after(delay: number, run: () => void): void {
    this.#events.push({ at: this.now + delay, number: this.#numbers++, run })
  }

  /** Resolves on a host that has not begun anew, and is not paused. */
  sleep(host: Host, delay: number): Promise<void> {
    return new Promise((resolve) => this.#arrive(host, host.life, delay, resolve))
  }

  /** Asks another host. Rejects with `Lost` when no answer comes; what was asked may have been done all the same. */
  call<Answer>(from: Host, to: Host, work: () => Answer | Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { life } = from
      this.#arrive(from, life, patience, () => reject(new Lost(`${to.name} has not answered`)))
      if (this.#isCut(from, to)) return
      this.#arrive(to, to.life, this.#delay(), async () => {
        let answer: () => void
        try {
          const value = await work()
          answer = () => resolve(value)
        } catch (thrown) {
          answer = () => reject(thrown)
        }
        if (!this.#isCut(from, to)) this.#arrive(from, life, this.#delay(), answer)
      })
    })
  }

  cut(a: Host, b: Host): void {
    this.#cut.add(linkOf(a, b))
  }

  mend(a: Host, b: Host): void {
    this.#cut.delete(linkOf(a, b))
  }

  mendAll(): void {
    this.#cut.clear()
  }

  async run(until: number): Promise<void> {
    while (true) {
      const next = this.#takeNext(until)
      if (!next) break
      this.now = next.at
      next.run()
      await setImmediate()
    }
    this.now = until
  }

  #arrive(host: Host, life: number, delay: number, run: () => void): void {
    this.after(delay, () => {
      if (!host.isUp || host.life !== life) return
      if (host.pausedUntil > this.now) this.#arrive(host, life, host.pausedUntil - this.now, run)
      else run()
    })
  }

  #delay(): number {
    const delay = this.between(shortest, longest)
    return this.random() < 0.05 ? delay * slowed : delay
  }

  #isCut(a: Host, b: Host): boolean {
    return this.#cut.has(linkOf(a, b))
  }

  #takeNext(until: number): Event | undefined {
    let best = -1
    for (let i = 0; i < this.#events.length; i++) {
      const event = this.#events[i]!
      if (event.at > until) continue
      const first = this.#events[best]
      if (!first || event.at < first.at || (event.at === first.at && event.number < first.number)) {
        best = i
      }
    }
    return best < 0 ? undefined : this.#events.splice(best, 1)[0]
  }
}

function linkOf(a: Host, b: Host): string {
  return [a.name, b.name].sort().join()
}
