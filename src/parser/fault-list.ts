import { AssayError, type WireError } from '../error.ts'

/** More faults of one text help nobody. */
const maximumFaults = 11

/** The faults of one text, collected so that its author sees them together. */
export class FaultList {
  readonly #faults: AssayError[] = []

  get isEmpty(): boolean {
    return this.#faults.length === 0
  }

  /** Whether reading on would find nothing that is reported. */
  get isFull(): boolean {
    return this.#faults.length >= maximumFaults
  }

  /** Takes in what was thrown, with the faults that it carries. What is no `AssayError` goes on. */
  add(thrown: unknown): void {
    if (!(thrown instanceof AssayError)) throw thrown
    this.#faults.push(thrown, ...thrown.others)
  }

  /** Throws the first fault, which carries the others; does nothing if there is none. */
  throwAny(): void {
    throwFaults(this.#faults)
  }
}

/** Throws the fault that comes first in the text, with up to ten others; does nothing for none. */
export function throwFaults(faults: readonly AssayError[]): void {
  const ordered = [...faults].sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0))
  const [first, ...others] = ordered.slice(0, maximumFaults)
  if (first === undefined) return
  if (others.length === 0 && first.others.length === 0) throw first
  throw AssayError.fromWire({ ...alone(first), others: others.map(alone) })
}

/** The fault without those that it carries: they are in the list as well. */
function alone(fault: AssayError): WireError {
  const { others: _, ...wire } = fault.toWire()
  return wire
}
