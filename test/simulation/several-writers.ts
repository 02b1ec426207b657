/**
 * The protocol of `src/clickhouse/several-writers.md` for one project: nodes of which one at a time is its home, a keeper
 * of leases, and replicas of which two of three make a quorum.
 */
import { Host, Lost, type Simulation } from './simulation.ts'

/** What the protocol relies on. A simulation without one of them has to fail. */
export const rules = [
  'ask for the lease after each write',
  'acknowledge in order',
  'repair before sealing',
  'know earlier inserts',
  'ignore what is beyond a seal',
] as const

export type Rule = (typeof rules)[number]

/** An insert as it is stored: written again, it is the same. */
export interface Batch {
  readonly epoch: number
  readonly sequence: number
  readonly insert: string
}

interface Lease {
  readonly epoch: number
  readonly holder: string
  readonly until: number
}

const leaseTime = 150
const renewTime = 50
const quorum = 2

/** Decides one thing after the other, as a replicated store of a few small values does. */
export class Keeper extends Host {
  #lease: Lease = { epoch: 0, holder: '', until: 0 }
  /** For epochs that are over, the last sequence that counts. */
  readonly #seals = new Map<number, number>()

  constructor() {
    super('keeper')
  }

  get lease(): Lease {
    return this.#lease
  }

  get seals(): ReadonlyMap<number, number> {
    return new Map(this.#seals)
  }

  /** The new lease, unless another one is held. */
  take(holder: string, now: number): Lease | undefined {
    if (this.#lease.until > now) return undefined
    this.#lease = { epoch: this.#lease.epoch + 1, holder, until: now + leaseTime }
    return this.#lease
  }

  renew(epoch: number, now: number): void {
    if (this.#lease.epoch === epoch) this.#lease = { ...this.#lease, until: now + leaseTime }
  }

  /** What counts of an epoch: the first decision stays. */
  seal(epoch: number, through: number): number {
    const known = this.#seals.get(epoch)
    if (known !== undefined) return known
    this.#seals.set(epoch, through)
    return through
  }
}

/** Keeps what was written when it goes down. */
export class Replica extends Host {
  readonly #batches = new Map<string, Batch>()

  write(batch: Batch): void {
    this.#batches.set(`${batch.epoch}/${batch.sequence}`, batch)
  }

  read(): readonly Batch[] {
    return [...this.#batches.values()]
  }
}

export class NotHome extends Error {}

/** A node's time as the home of the project. */
interface Home {
  readonly epoch: number
  readonly inserts: Map<string, Promise<void>>
  readonly durable: Set<number>
  last: number
  /** All up to here is durable. */
  contiguous: number
  /** All up to here is acknowledged, or may be. */
  through: number
}

export class WriterNode extends Host {
  readonly #simulation: Simulation
  readonly #keeper: Keeper
  readonly #replicas: readonly Replica[]
  readonly #without: Rule | undefined
  #home: Home | undefined
  #becoming: Promise<Home> | undefined

  constructor(
    name: string,
    simulation: Simulation,
    keeper: Keeper,
    replicas: readonly Replica[],
    without: Rule | undefined,
  ) {
    super(name)
    this.#simulation = simulation
    this.#keeper = keeper
    this.#replicas = replicas
    this.#without = without
  }

  /** Forgets all that it knew. */
  restart(): void {
    this.isUp = true
    this.life++
    this.#home = undefined
    this.#becoming = undefined
  }

  /** Resolves once the insert may be acknowledged. The same insert may come again, here and elsewhere. */
  async insert(insert: string): Promise<void> {
    const home = await this.#asHome()
    let written = home.inserts.get(insert)
    if (!written) {
      written = this.#write(home, { epoch: home.epoch, sequence: ++home.last, insert })
      home.inserts.set(insert, written)
      written.catch(() => home.inserts.delete(insert))
    }
    await written
  }

  /** What is acknowledged, in order. Only the home knows. */
  async read(): Promise<readonly Batch[]> {
    const home = await this.#asHome()
    const { through } = home
    await this.#requireLease(home)
    return this.#visible(await this.#readAll(), await this.#seals(), home.epoch, through)
  }

  async #write(home: Home, batch: Batch): Promise<void> {
    await this.#writeToQuorum(batch)
    home.durable.add(batch.sequence)
    while (home.durable.has(home.contiguous + 1)) home.contiguous++
    const isInOrder = this.#without !== 'acknowledge in order'
    while (isInOrder && home.contiguous < batch.sequence) await this.#simulation.sleep(this, 5)
    if (this.#without !== 'ask for the lease after each write') await this.#requireLease(home)
    home.through = Math.max(home.through, batch.sequence)
  }

  async #asHome(): Promise<Home> {
    if (this.#home) return this.#home
    this.#becoming ??= this.#becomeHome().finally(() => {
      this.#becoming = undefined
    })
    return this.#becoming
  }

  async #becomeHome(): Promise<Home> {
    const { life } = this
    const lease = await this.#ask(() => this.#keeper.take(this.name, this.#simulation.now))
    if (!lease) throw new NotHome((await this.#ask(() => this.#keeper.lease)).holder)
    const { epoch } = lease
    this.#renew(epoch)
    const seals = new Map(await this.#seals())
    for (let earlier = 1; earlier < epoch; earlier++) {
      if (!seals.has(earlier)) seals.set(earlier, await this.#seal(earlier))
    }
    const before = this.#visible(await this.#readAll(), seals, epoch, 0)
    const home: Home = {
      epoch,
      inserts: new Map(),
      durable: new Set(),
      last: 0,
      contiguous: 0,
      through: 0,
    }
    if (this.#without !== 'know earlier inserts') {
      for (const { insert } of before) home.inserts.set(insert, Promise.resolve())
    }
    if (this.life === life) this.#home = home
    return home
  }

  /** Decides how much of an epoch counts: all that may have been acknowledged, as it is on two of three replicas. */
  async #seal(epoch: number): Promise<number> {
    const found = new Map<number, Batch>()
    for (const batch of await this.#readAll()) {
      if (batch.epoch === epoch) found.set(batch.sequence, batch)
    }
    let through = 0
    while (found.has(through + 1)) {
      through++
      if (this.#without !== 'repair before sealing') {
        await this.#writeToQuorum(found.get(through)!)
      }
    }
    return this.#ask(() => this.#keeper.seal(epoch, through))
  }

  async #requireLease({ epoch }: Home): Promise<void> {
    const lease = await this.#ask(() => this.#keeper.lease)
    if (lease.epoch === epoch) return
    if (this.#home?.epoch === epoch) this.#home = undefined
    throw new NotHome(lease.holder)
  }

  async #renew(epoch: number): Promise<void> {
    while (true) {
      await this.#simulation.sleep(this, renewTime)
      if (this.#home && this.#home.epoch !== epoch) return
      const { now } = this.#simulation
      await this.#simulation
        .call(this, this.#keeper, () => this.#keeper.renew(epoch, now))
        .catch(() => undefined)
    }
  }

  #visible(
    batches: readonly Batch[],
    seals: ReadonlyMap<number, number>,
    current: number,
    through: number,
  ): readonly Batch[] {
    const ends = new Map(seals)
    if (!ends.has(current)) ends.set(current, through)
    const isBounded = this.#without !== 'ignore what is beyond a seal'
    return batches
      .filter(({ epoch, sequence }) => {
        const end = ends.get(epoch)
        return end !== undefined && (sequence <= end || !isBounded)
      })
      .sort((a, b) => a.epoch - b.epoch || a.sequence - b.sequence)
  }

  #seals(): Promise<ReadonlyMap<number, number>> {
    return this.#ask(() => this.#keeper.seals)
  }

  async #ask<Answer>(question: () => Answer): Promise<Answer> {
    while (true) {
      try {
        return await this.#simulation.call(this, this.#keeper, question)
      } catch (thrown) {
        if (!(thrown instanceof Lost)) throw thrown
      }
    }
  }

  /** What any quorum has. */
  async #readAll(): Promise<readonly Batch[]> {
    const lists = await this.#fromQuorum((replica) => replica.read())
    const all = new Map<string, Batch>()
    for (const batch of lists.flat()) all.set(`${batch.epoch}/${batch.sequence}`, batch)
    return [...all.values()]
  }

  async #writeToQuorum(batch: Batch): Promise<void> {
    await this.#fromQuorum((replica) => replica.write(batch))
  }

  /** The answers of the first two of three; those that do not answer are asked again. */
  #fromQuorum<Answer>(work: (replica: Replica) => Answer): Promise<readonly Answer[]> {
    return new Promise((resolve) => {
      const answers: Answer[] = []
      const ask = async (replica: Replica) => {
        while (answers.length < quorum) {
          try {
            const answer = await this.#simulation.call(this, replica, () => work(replica))
            if (answers.length < quorum) answers.push(answer)
            if (answers.length === quorum) resolve(answers)
            return
          } catch (thrown) {
            if (!(thrown instanceof Lost)) throw thrown
          }
        }
      }
      for (const replica of this.#replicas) void ask(replica)
    })
  }
}
