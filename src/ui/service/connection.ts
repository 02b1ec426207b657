/**
 * Reads that the service does not answer now. They wait in a line, of which one at a time is tried again, ever more
 * rarely; once that is answered, all go on. So what is shown heals by itself, and costs few requests until then.
 */
import { computed, signal } from '@preact/signals'
import { base } from '../state/location.ts'

export type Trouble = 'unreachable' | 'not ready' | 'too many requests' | 'failed'

/** What keeps reads waiting. */
export interface Outage {
  readonly trouble: Trouble
  /** When it is tried again, in milliseconds since 1970; undefined while it is being tried, or stopped. */
  readonly retryAt: number | undefined
  readonly isStopped: boolean
}

const firstPauseMs = 1000
const longestPauseMs = 30_000

/** Pauses are up to so much longer, lest all pages come back at one moment. */
const jitter = 0.2

interface Waiter {
  /** @param turn the line of which this is the one that is tried; undefined once the line is over */
  readonly goOn: (turn: Line | undefined) => void
  readonly giveUp: (error: GivenUp) => void
  /** What it was answered last. */
  readonly answer: Response | undefined
}

/** A read that is not tried any more. */
export class GivenUp extends Error {
  readonly answer: Response | undefined

  constructor(answer: Response | undefined) {
    super('It is not tried any more')
    this.answer = answer
  }
}

class Line {
  readonly outage = signal<Outage | undefined>(undefined)
  #waiters: Waiter[] = []
  #attempts = 0
  #timer: number | undefined

  get isOn(): boolean {
    return this.outage.value !== undefined
  }

  /** Until it is one's turn. */
  wait(abort: AbortSignal | undefined, answer?: Response): Promise<Line | undefined> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters = this.#waiters.filter((each) => each !== waiter)
        reject(abort?.reason)
      }
      const goOn = (turn: Line | undefined) => {
        abort?.removeEventListener('abort', leave)
        resolve(turn)
      }
      const giveUp = (error: GivenUp) => {
        abort?.removeEventListener('abort', leave)
        reject(error)
      }
      const waiter = { goOn, giveUp, answer }
      if (abort?.aborted) {
        leave()
        return
      }
      abort?.addEventListener('abort', leave)
      this.#waiters.push(waiter)
    })
  }

  /** One was not answered. Those that failed beside the one that is tried make no pause longer. */
  fail(trouble: Trouble, wasTried: boolean, atLeastMs: number): void {
    if (this.outage.value && !wasTried) return
    this.#attempts++
    const usual = Math.min(firstPauseMs * 2 ** (this.#attempts - 1), longestPauseMs)
    const pause = Math.max(usual * (1 + Math.random() * jitter), atLeastMs)
    this.outage.value = { trouble, retryAt: Date.now() + pause, isStopped: false }
    window.clearTimeout(this.#timer)
    this.#timer = window.setTimeout(() => this.tryNow(), pause)
  }

  tryNow(): void {
    const { value } = this.outage
    if (!value) return
    window.clearTimeout(this.#timer)
    this.#timer = undefined
    const next = this.#waiters.shift()
    if (!next) {
      this.end()
      return
    }
    this.outage.value = { ...value, retryAt: undefined, isStopped: false }
    next.goOn(this)
  }

  /** All go on. */
  end(): void {
    window.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#attempts = 0
    this.outage.value = undefined
    const free = this.#waiters
    this.#waiters = []
    for (const waiter of free) waiter.goOn(undefined)
  }

  /** Those that wait go on waiting, and nothing is tried before somebody asks for it. */
  stop(): void {
    const { value } = this.outage
    if (!value) return
    window.clearTimeout(this.#timer)
    this.#timer = undefined
    this.outage.value = { ...value, retryAt: undefined, isStopped: true }
  }

  /** Those that wait have failed for good. */
  giveUp(): void {
    const given = this.#waiters
    this.#waiters = []
    for (const { giveUp, answer } of given) giveUp(new GivenUp(answer))
    this.end()
  }
}

/** What no request gets through keeps all waiting; where the service fails at one, others go on. */
const reaching = new Line()
const failing = new Line()

export const outage = computed(() => reaching.outage.value ?? failing.outage.value)

export function tryNow(): void {
  reaching.tryNow()
  failing.tryNow()
}

export function stopTrying(): void {
  reaching.stop()
  failing.giveUp()
}

window.addEventListener('online', () => reaching.tryNow())

/**
 * Sends a read, again and again where it is not answered: the network fails, the service is not ready, has had too
 * many requests, or has failed. Any other answer is given back. Rejects with `GivenUp` when the person stops it.
 */
export async function persist(
  send: () => Promise<Response>,
  abort?: AbortSignal,
): Promise<Response> {
  /** The line of which this is the one that is tried. */
  let turn: Line | undefined
  for (;;) {
    if (reaching.isOn && turn !== reaching) {
      turn?.tryNow()
      turn = await reaching.wait(abort)
    }
    const answer = await send().catch((thrown: unknown) => {
      if (!abort?.aborted) return undefined
      // The next one is tried in its place.
      turn?.tryNow()
      throw thrown
    })
    const trouble = troubleOf(answer)
    const line = trouble === 'failed' ? failing : reaching
    if (answer && trouble === undefined) {
      turn?.end()
      return answer
    }
    if (turn === reaching && line === failing) reaching.end()
    else if (turn !== line) turn?.tryNow()
    const waiting = line.wait(abort, answer)
    line.fail(trouble ?? 'unreachable', turn === line, pauseAsked(answer))
    turn = await waiting
  }
}

/**
 * Asks whether the service answers, until it does.
 *
 * @returns whether it did so at once
 */
export async function awaitService(abort?: AbortSignal): Promise<boolean> {
  let tries = 0
  const ask = () => {
    tries++
    return fetch(`${base}/healthz`, { ...(abort && { signal: abort }) })
  }
  const wasReachable = !reaching.isOn
  await persist(ask, abort)
  return wasReachable && tries === 1
}

function troubleOf(answer: Response | undefined): Trouble | undefined {
  if (!answer) return 'unreachable'
  if (answer.status === 429) return 'too many requests'
  if (answer.status === 500) return 'failed'
  return [502, 503, 504].includes(answer.status) ? 'not ready' : undefined
}

/** In milliseconds: `Retry-After` is in seconds, or a date. */
function pauseAsked(answer: Response | undefined): number {
  const text = answer?.headers.get('retry-after') ?? ''
  if (text === '') return 0
  const seconds = Number(text)
  const pause = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1000
  return Number.isNaN(pause) ? 0 : Math.max(0, pause)
}
