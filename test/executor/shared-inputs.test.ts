import { describe, expect, it } from 'vitest'
import {
  isTaken,
  numberThread,
  sharedInputs,
  takeInputs,
} from '../../src/executor/task/shared-inputs.ts'
import type { TaskInput } from '../../src/executor/task/task.ts'

const noneWait = Int32Array.of(0)

function rows(from: number, to: number, segment = 1): TaskInput {
  return { kind: 'segment', segment, object: 1, from, to, mayBeNewer: false }
}

const units = [[rows(0, 10), rows(20, 30)], [rows(30, 40)], [rows(50, 60)]]

describe('inputs that tasks share', () => {
  it('are taken unit by unit, each by one task', () => {
    const { inputs, share } = sharedInputs(units, 2, noneWait)
    const one = takeInputs(inputs, share)
    const other = takeInputs(inputs, share)
    expect(one.next().value).toBe(inputs[0])
    expect(other.next().value).toBe(inputs[2])
    expect(one.next().value).toBe(inputs[1])
    expect(one.next().value).toBe(inputs[3])
    expect(isTaken(share)).toBe(true)
    expect(other.next().done).toBe(true)
    expect(one.next().done).toBe(true)
  })

  it('are taken by a thread from its own segments first, then from those of others', () => {
    const segments = [1, 2, 3, 4, 5, 6].map((segment) => [rows(0, 10, segment)])
    const order = () => {
      const { inputs, share } = sharedInputs(segments, 2, noneWait)
      return Array.from(takeInputs(inputs, share), (input) =>
        input.kind === 'segment' ? input.segment : 0,
      )
    }
    numberThread(0)
    expect(order()).toEqual([2, 4, 6, 1, 3, 5])
    expect(order()).toEqual([2, 4, 6, 1, 3, 5])
    numberThread(1)
    expect(order()).toEqual([1, 3, 5, 2, 4, 6])
    numberThread(0)
  })

  it('are taken by the same thread also when parts before them were flushed', () => {
    const memory = new SharedArrayBuffer(8)
    const order = (parts: readonly number[]) => {
      const ofParts = parts.map((part): TaskInput[] => {
        return [
          {
            kind: 'memtable',
            memtable: part,
            memory,
            object: 1,
            from: 0,
            to: 10,
            mayBeNewer: false,
          },
        ]
      })
      const { inputs, share } = sharedInputs(ofParts, 2, noneWait)
      return Array.from(takeInputs(inputs, share), (input) =>
        input.kind === 'memtable' ? input.memtable : 0,
      )
    }
    expect(order([1, 2, 3, 4, 5])).toEqual([2, 4, 1, 3, 5])
    expect(order([2, 3, 4, 5, 6])).toEqual([2, 4, 6, 3, 5])
  })

  it('are left to a later task after a unit while others wait for a thread', () => {
    const waiting = Int32Array.of(1)
    const { inputs, share } = sharedInputs(units, 1, waiting)
    expect([...takeInputs(inputs, share)]).toEqual(units[0])
    expect(isTaken(share)).toBe(false)
    waiting[0] = 0
    expect([...takeInputs(inputs, share)]).toEqual([...units[1]!, ...units[2]!])
  })

  it('are taken on while others wait as long as the task had better not end yet', () => {
    const { inputs, share } = sharedInputs(units, 1, Int32Array.of(1))
    const taken: TaskInput[] = []
    const mayGiveWay = () => taken.length > units[0]!.length
    for (const input of takeInputs(inputs, share, () => false, mayGiveWay)) taken.push(input)
    expect(taken).toEqual([...units[0]!, ...units[1]!])
    expect(isTaken(share)).toBe(false)
  })

  it('are left to a later task after a unit once one has found much', () => {
    const { inputs, share } = sharedInputs(units, 1, new Int32Array(1))
    const taken = []
    for (const input of takeInputs(inputs, share, () => taken.length > units[0]!.length)) {
      taken.push(input)
    }
    expect(taken).toEqual([...units[0]!, ...units[1]!])
    expect(isTaken(share)).toBe(false)
    expect([...takeInputs(inputs, share)]).toEqual(units[2])
  })

  it('are all of a task that shares them with none', () => {
    expect([...takeInputs(units.flat(), undefined)]).toEqual(units.flat())
  })
})
