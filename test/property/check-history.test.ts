/** The checker of histories finds what is wrong with them. */
import { expect, test } from 'vitest'
import { checkHistory } from '../support/history/check-history.ts'
import type { History, Read, Row, Stream, Write } from '../support/history/operation.ts'
import { type Committed, Replay } from '../support/history/replay.ts'

const transaction = (n: number) => (1000196129554423269n + BigInt(n)).toString()

const write = (number: number, begin: number, changes: Write['changes']): Committed => ({
  client: 0,
  begin,
  end: begin + 5,
  number,
  changes,
  outcome: { transaction: transaction(number) },
})

const writes = [
  write(0, 0, [
    { object: 'o', id: 'a', action: 'set', fields: { size: 1, kind: 0 } },
    { object: 'o', id: 'b', action: 'set', fields: { size: 2 } },
  ]),
  write(1, 10, [{ object: 'o', id: 'a', action: 'merge', fields: { size: 7 } }]),
  write(2, 20, [
    { object: 'o', id: 'c', action: 'set', fields: { size: 3 } },
    { object: 'o', id: 'b', action: 'delete', fields: {} },
  ]),
]
const replay = new Replay(writes)
const all = { kind: 'rows' } as const
const state = (number: number) => replay.answer(['o'], all, transaction(number)) as Row[]

const read = (begin: number, answer: Read['answer'], more: Partial<Read> = {}): Read => ({
  client: 1,
  begin,
  end: begin + 2,
  objects: ['o'],
  question: all,
  answer,
  ...more,
})

const traces = [
  { object: 'o', id: 'a', transaction: transaction(0), write: 0 },
  { object: 'o', id: 'b', transaction: transaction(0), write: 0 },
  { object: 'o', id: 'a', transaction: transaction(1), write: 1 },
  { object: 'o', id: 'c', transaction: transaction(2), write: 2 },
  { object: 'o', id: 'b', transaction: transaction(2), write: undefined },
]

const stream: Stream = {
  objects: ['o'],
  question: all,
  rounds: [
    { end: 8, transaction: transaction(0), isWhole: true, answer: state(0), removed: [] },
    {
      end: 30,
      transaction: transaction(2),
      isWhole: false,
      answer: state(2),
      removed: [{ object: 'o', id: 'b' }],
    },
  ],
}

const right: History = {
  writes,
  reads: [
    read(6, state(0)),
    // The second write is under way, so both are right.
    read(11, state(0)),
    read(11, state(1)),
    read(16, state(1)),
    read(26, state(2)),
    read(26, state(1), { version: transaction(1) }),
    read(26, replay.answer(['o'], { kind: 'groups' }, transaction(2)), {
      question: { kind: 'groups' },
    }),
    read(26, state(2).slice(0, 1), { question: { kind: 'rows', limit: 1 } }),
  ],
  streams: [stream],
  traces,
}

const round = (at: number, change: object): History => ({
  ...right,
  streams: [
    { ...stream, rounds: stream.rounds.map((one, i) => (i === at ? { ...one, ...change } : one)) },
  ],
})

test('a right history has no faults', () => {
  expect(checkHistory(right)).toEqual([])
})

test('a write without an answer took place or did not', () => {
  const unknown = writes.map(
    (one, i): Write => (i === 1 ? { ...one, end: Infinity, outcome: 'unknown' } : one),
  )
  expect(checkHistory({ ...right, writes: unknown })).toEqual([])
  const never = write(9, 12, [{ object: 'o', id: 'z', action: 'set', fields: {} }])
  expect(checkHistory({ ...right, writes: [...writes, { ...never, outcome: 'unknown' }] })).toEqual(
    [],
  )
})

test.each<[string, Partial<History>, RegExp]>([
  [
    'a read of what was before an acknowledged write',
    { reads: [read(16, state(0))] },
    /is of no moment/,
  ],
  ['a read of what was not written yet', { reads: [read(11, state(2))] }, /is of no moment/],
  ['a read of half a write', { reads: [read(26, state(2).slice(0, 1))] }, /is of no moment/],
  ['rows in another order', { reads: [read(6, [...state(0)].reverse())] }, /is of no moment/],
  [
    'a read that goes back behind an earlier one',
    { reads: [read(10.5, state(1)), read(12.7, state(0))] },
    /is of no moment/,
  ],
  [
    'a version that has changed',
    { reads: [read(26, state(2), { version: transaction(1) })] },
    /at version/,
  ],
  [
    'a sum that no state has',
    { reads: [read(26, [{ kind: 0, count: 1, sum: 8 }], { question: { kind: 'groups' } })] },
    /is of no moment/,
  ],
  [
    'an acknowledged write that is lost',
    { traces: traces.slice(0, 3), reads: [], streams: [] },
    /is lost/,
  ],
  ['half of a write', { traces: traces.filter((_, i) => i !== 1), reads: [] }, /is lost/],
  [
    'a version that nobody wrote',
    { traces: [...traces, { object: 'o', id: 'z', transaction: transaction(2), write: 2 }] },
    /was not written/,
  ],
  [
    'a write in two transactions',
    { traces: [...traces, { object: 'o', id: 'a', transaction: transaction(5), write: 1 }] },
    /is of .* and of/,
  ],
  [
    'a write that took place although it was refused',
    { writes: writes.map((one, i): Write => (i === 1 ? { ...one, outcome: 'refused' } : one)) },
    /took place, refused/,
  ],
  [
    'two writes with one transaction',
    { writes: writes.map((one) => ({ ...one, outcome: { transaction: transaction(0) } })) },
    /same transaction/,
  ],
  [
    'transactions against the order in time',
    { writes: writes.map((one, i) => (i === 0 ? { ...one, begin: 50, end: 55 } : one)) },
    /comes after it/,
  ],
  ['a round that lacks a change', round(1, { answer: state(2).slice(1) }), /missing/],
  ['a round that does not name what was removed', round(1, { removed: [] }), /does not remove/],
  [
    'a round that removes what is there',
    round(1, { removed: ['a', 'b'].map((id) => ({ object: 'o', id })) }),
    /removes o\/a/,
  ],
  ['a first round that is not the state', round(0, { answer: [] }), /missing/],
  ['a round that goes back', round(1, { transaction: '1' }), /comes after/],
  ['a round with what was not written yet', round(1, { end: 15 }), /began later/],
  [
    'a stream that ends too early',
    { streams: [{ ...stream, rounds: stream.rounds.slice(0, 1) }] },
    /ends at/,
  ],
])('%s is found', (_, wrong, fault) => {
  expect(checkHistory({ ...right, ...wrong }).join('\n')).toMatch(fault)
})
