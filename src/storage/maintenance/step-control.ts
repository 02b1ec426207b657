/**
 * How the thread of maintenance is told to give up the step that it is at: a number in memory that it shares with
 * the thread that asks for steps. What was given up has changed nothing, and may be begun anew.
 */
import { AssayError } from '../../error.ts'
import { letQueriesPass } from '../give-way.ts'

const goOn = 0
const giveWay = 1
const close = 2

/** The side that asks for steps. */
export class StepControl {
  readonly state = new Int32Array(new SharedArrayBuffer(4))

  /** A step begins, which nothing has been asked of. */
  begin(): void {
    Atomics.compareExchange(this.state, 0, giveWay, goOn)
  }

  /** Asks the step that runs to end soon, without a result, since others wait for the thread. */
  giveWay(): void {
    Atomics.compareExchange(this.state, 0, goOn, giveWay)
  }

  /** Whether the step that runs, or ran last, was asked to give way. */
  get hasAskedForWay(): boolean {
    return Atomics.load(this.state, 0) === giveWay
  }

  /** Asks this step and all later ones to end: the segments are being closed. */
  close(): void {
    Atomics.store(this.state, 0, close)
  }
}

const gaveWay = new AssayError('STORAGE_UNAVAILABLE', 'the segments are needed for something else')

/**
 * To be called now and then in a step that takes seconds: lets queries pass, and ends the step if that was asked.
 *
 * @param state of the control
 */
export function checkpoint(state: Int32Array): void {
  letQueriesPass()
  const asked = Atomics.load(state, 0)
  if (asked === giveWay) throw gaveWay
  if (asked === close) {
    throw new AssayError('STORAGE_UNAVAILABLE', 'the segments are being closed')
  }
}

/** Whether a step ended with this because it was asked to give way. */
export function hasGivenWay(thrown: unknown): boolean {
  return thrown === gaveWay
}
