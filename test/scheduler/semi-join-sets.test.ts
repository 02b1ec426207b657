/** Large sets of traces are bytes by code of a shared dictionary, and hold what small ones would. */
import { expect, test } from 'vitest'
import { plainValues, sharedNull } from '../../src/executor/column/wire-values.ts'
import { withSemiJoinSets } from '../../src/executor/expression/semi-join-set.ts'
import type { PartialGroups } from '../../src/executor/task/task.ts'
import { traceSetOfGroups } from '../../src/scheduler/scan/semi-join-sets.ts'
import { SharedDictionaryBuilder, SharedTexts } from '../../src/vector/shared-dictionary.ts'
import { context } from '../support/scan-task.ts'
import { textColumn } from '../support/text-column.ts'

function named(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `trace ${from + i}`)
}

/** Groups of object 1 with these codes of the dictionary, null, and texts that it does not have. */
function groupsOf(codes: readonly number[], others: readonly string[]): PartialGroups {
  const keys = [...codes, sharedNull, ...others.map((_, i) => sharedNull - 1 - i)]
  return {
    kind: 'groups',
    groupCount: keys.length,
    keys: [
      { kind: 'number', values: new Float64Array(keys.length).fill(1) },
      {
        kind: 'shared',
        dictionary: 7,
        codes: Int32Array.from(keys),
        others: plainValues(others),
      },
    ],
    states: [],
    rows: undefined,
    preferred: undefined,
    rowValues: [],
  }
}

test.each([
  ['few', 100],
  ['many', 9000],
])('%s traces are held, whatever has become of the dictionary', (_, count) => {
  const builder = new SharedDictionaryBuilder(7, undefined)
  builder.add(textColumn(named(0, count)), 1)
  const dictionary = builder.finish()
  const even = Array.from({ length: count / 2 }, (_, i) => i * 2)
  const partials = [
    groupsOf(even.slice(0, 20), []),
    groupsOf(even.slice(10), ['late', 'half \ud800']),
  ]
  const set = traceSetOfGroups({
    kind: 'groups',
    partials,
    local: [],
    dictionaries: [dictionary],
  })
  expect(set.numbered === undefined).toBe(count === 100)

  const { traces, inTraces } = withSemiJoinSets(context, [set])
  const asked = ['trace 0', 'trace 1', `trace ${count - 2}`, 'late', 'half \ud800', 'other', null]
  const held = [true, false, true, true, true, false, false]
  expect(asked.map((trace) => inTraces!(0, 1, trace))).toEqual(held)
  expect(inTraces!(0, 2, 'trace 0')).toBe(false)

  const ofObject = traces![0]!.of(1)!
  const wanted = Array.from({ length: count }, (_, code) => 1 - (code % 2))
  const heldBy = (texts: SharedTexts) => [...ofObject.heldCodes(texts).subarray(0, texts.count)]
  expect(heldBy(new SharedTexts(dictionary))).toEqual(wanted)
  // Texts that came later: one of them is in the set.
  const grown = new SharedDictionaryBuilder(7, dictionary)
  grown.add(textColumn(['other', 'late']), 2)
  expect(heldBy(new SharedTexts(grown.finish()))).toEqual([...wanted, 0, 1])
  // Another dictionary of the same texts.
  const another = new SharedDictionaryBuilder(8, undefined)
  another.add(textColumn(['late', 'trace 1', 'trace 2']), 1)
  expect(heldBy(new SharedTexts(another.finish()))).toEqual([1, 0, 1])
})
