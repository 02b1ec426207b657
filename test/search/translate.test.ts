/**
 * What people's words are translated to: `utterances.txt` holds words, what they are taken as, the
 * clauses and the explanation. `ASSAY_UPDATE=1` writes the answers anew, for review. A line that
 * begins with `!` says what the words mean, where the translation falls short of it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseQuery } from '../../src/parser/parse.ts'
import { translate } from '../../src/search/translate.ts'
import type { Translation } from '../../src/search/write-reading.ts'
import { openSearchedLogs, searchedAt } from '../support/searched-logs.ts'

const file = new URL('utterances.txt', import.meta.url)

interface Utterance {
  readonly words: string
  readonly expected: string
  /** What was meant, if that is not what is expected. */
  readonly shortfall: string | undefined
}

const headings: string[] = []

/** `# heading`, `> words`, lines of the answer, an empty line. */
function readUtterances(): Utterance[] {
  const blocks = readFileSync(file, 'utf8').trim().split(/\n\n+/)
  return blocks.flatMap((block) => {
    const lines = block.split('\n')
    if (lines[0]!.startsWith('#')) {
      headings.push(block)
      return []
    }
    const shortfall = lines.find((line) => line.startsWith('!'))
    return {
      words: lines[0]!.slice(2),
      expected: lines.filter((line, i) => i > 0 && line !== shortfall).join('\n'),
      shortfall,
    }
  })
}

const utterances = readUtterances()
let logs: Awaited<ReturnType<typeof openSearchedLogs>>

beforeAll(async () => {
  logs = await openSearchedLogs()
})

afterAll(() => logs.close())

function translated(text: string): Translation {
  const { vocabulary } = logs
  return translate({ text, vocabulary, now: searchedAt, tzOffset: 0, hasTraces: true })
}

function shown({ kind, shape, clauses, explanation }: Translation): string {
  return [shape ? `${kind}, ${shape}` : kind, clauses, `-- ${explanation}`].join('\n')
}

describe('a translation of words', () => {
  if (process.env.ASSAY_UPDATE === '1') {
    test('is written anew', () => {
      const blocks = utterances.map(({ words, shortfall }) => {
        return [`> ${words}`, shown(translated(words)), ...(shortfall ? [shortfall] : [])].join(
          '\n',
        )
      })
      writeFileSync(file, `${[...headings, ...blocks].join('\n\n')}\n`)
    })
    return
  }

  for (const { words, expected } of utterances) {
    test(words, async () => {
      const translation = translated(words)
      expect(shown(translation)).toBe(expected)
      await logs.rowsOf(translation.clauses, translation.shape)
    })
  }

  test('is what was meant for nine in ten of at least two hundred', () => {
    expect(utterances.length).toBeGreaterThanOrEqual(200)
    const fallingShort = utterances.filter(({ shortfall }) => shortfall)
    expect(fallingShort.length / utterances.length).toBeLessThan(0.1)
  })
})

test('days are those of the caller', () => {
  const { vocabulary } = logs
  const request = { vocabulary, now: searchedAt, hasTraces: true }
  const tokyo = translate({ ...request, text: 'yesterday', tzOffset: -540 })
  expect(tokyo.clauses).toContain(
    "created >= '2026-11-16T15:00:00Z' and created < '2026-11-17T15:00:00Z'",
  )
  const losAngeles = translate({ ...request, text: 'since Monday', tzOffset: 480 })
  expect(losAngeles.clauses).toContain("created >= '2026-11-16T08:00:00Z'")
})

test('any words give a query of the source alone, with the words as texts', async () => {
  const fragment = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom(
      ...[
        "from: project_logs('x')",
        '| from: experiment(1)',
        "') or true --",
        '"; select: *',
        '\\',
      ],
      ...[
        '<img src=x onerror=1>',
        'ignore all rules',
        '$(secret)',
        '%',
        '_',
        "model 'x",
        "user: '",
      ],
      ...[
        '+"',
        "-'",
        'limit: 0',
        'not not not',
        'or or',
        'by by',
        'top top',
        'error is',
        '＇',
        '\0',
      ],
      ...utterances.slice(0, 40).map(({ words }) => words),
    ),
  )
  const words = fc.array(fragment, { maxLength: 6 }).map((parts) => parts.join(' '))
  await fc.assert(
    fc.asyncProperty(words, async (text) => {
      const { clauses, shape } = translated(text)
      expect(parseQuery(clauses).from).toBeUndefined()
      await logs.rowsOf(clauses, shape)
    }),
    { numRuns: process.env.ASSAY_SLOW === '1' ? 5000 : 300 },
  )
})
