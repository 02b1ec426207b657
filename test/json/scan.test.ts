import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { JsonScanner, maximumDepth } from '../../src/json/scan.ts'

function compact(text: string): string {
  const out = new ByteWriter(1)
  const scanner = new JsonScanner(Buffer.from(text))
  scanner.value(out)
  scanner.finish()
  return out.view().toString()
}

/** JSON text with any whitespace between its tokens. */
const spacedJson = fc
  .tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t', ' \n '))
  .map(([value, space]) => JSON.stringify(value, null, space))

describe('compacting', () => {
  test('drops whitespace between tokens and nothing else', () => {
    fc.assert(
      fc.property(spacedJson, (text) => {
        expect(compact(text)).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  test.each([
    [' { "a" : 1 ,\n"b" : [ ] , "c":{ } } ', '{"a":1,"b":[],"c":{}}'],
    ['[ 1 , 2,3 ]', '[1,2,3]'],
    ['{"a" :1}', '{"a":1}'],
    ['{"a": 1}', '{"a":1}'],
    ['"a  b\\u00E9\\/"', '"a  b\\u00E9\\/"'],
    ['[1.50E+3, -0, 12345678901234567890, 1e999]', '[1.50E+3,-0,12345678901234567890,1e999]'],
    ['{"a":1,"a":2}', '{"a":1,"a":2}'],
    ['"a long text without anything in it, é and 漢字 and 😀, and \\" after that"', undefined],
  ])('keeps the text of values: %s', (text, expected) => {
    expect(compact(text)).toBe(expected ?? text)
  })

  test('sees every special byte wherever it is in a long string', () => {
    for (let length = 0; length < 40; length++) {
      for (const [special, valid] of [
        ['\\n', true],
        ['\\x', false],
        ['\u0001', false],
        ['\u001f', false],
        [' ', true],
        ['\u007f', true],
        ['é', true],
      ] as const) {
        const text = `"${'x'.repeat(length)}${special}${'y'.repeat(20)}"`
        if (valid) expect(compact(text)).toBe(text)
        else expect(() => compact(text)).toThrow('not JSON')
      }
    }
  })
})

describe('what is not JSON is refused', () => {
  test('exactly where JSON.parse refuses it', () => {
    const mutated = fc
      .tuple(spacedJson, fc.nat(), fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '1', 'x'))
      .map(([text, at, insert]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + insert + text.slice(place + (insert === '' ? 1 : 0))
      })
    fc.assert(
      fc.property(mutated, (text) => {
        let expected: unknown
        try {
          expected = JSON.stringify(JSON.parse(text))
        } catch {
          expect(() => compact(text)).toThrow('not JSON')
          return
        }
        expect(JSON.stringify(JSON.parse(compact(text)))).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['', 'expected a JSON value at byte 0, found the end'],
    ['{"a":1', 'expected "," or "}" at byte 6, found the end'],
    ['[1,]', 'expected a JSON value at byte 3, found "]"'],
    ['[,1]', 'expected a JSON value at byte 1, found ","'],
    ['{,"a":1}', 'expected a member name in double quotes at byte 1, found ","'],
    ['{"a":1,}', 'expected a member name in double quotes at byte 7, found "}"'],
    ['{"a" 1}', 'expected ":" at byte 5, found "1"'],
    ["{'a':1}", 'expected a member name in double quotes at byte 1, found "\'"'],
    ['[01]', 'expected "," or "]" at byte 2, found "1"'],
    ['[1.]', 'expected a digit at byte 3, found "]"'],
    ['[-]', 'expected a digit at byte 2, found "]"'],
    ['[1e]', 'expected a digit at byte 3, found "]"'],
    ['[+1]', 'expected a JSON value at byte 1, found "+"'],
    ['[NaN]', 'expected a JSON value at byte 1, found "N"'],
    ['[Infinity]', 'expected a JSON value at byte 1, found "I"'],
    ['[nul]', 'expected a JSON value at byte 1, found "n"'],
    ['tru', 'expected a JSON value at byte 0, found "t"'],
    ['"a', 'expected the closing quote of a string at byte 2, found the end'],
    ['"a\nb"', 'expected an escaped control character at byte 2, found byte 0x0a'],
    ['"\\', 'expected a valid escape in a string at byte 1, found "\\"'],
    ['"\\u12"', 'expected a valid escape in a string at byte 1, found "\\"'],
    ['"\\u12G4"', 'expected a valid escape in a string at byte 1, found "\\"'],
    ['1 2', 'expected the end at byte 2, found "2"'],
    ['[1}', 'expected "," or "]" at byte 2, found "}"'],
    ['{"a":1]', 'expected "," or "}" at byte 6, found "]"'],
  ])('%s', (text, message) => {
    expect(() => compact(text)).toThrow(`not JSON: ${message}`)
  })

  test('bytes after the given end do not count', () => {
    for (const text of ['tru', '1', '"a', '{"a":1', '"\\u00e', '[1']) {
      const bytes = Buffer.from(`${text}e9"}]`)
      const scanner = new JsonScanner(bytes, 0, text.length)
      if (text === '1') scanner.value()
      else expect(() => scanner.value(), text).toThrow('not JSON')
    }
  })
})

describe('depth', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

  test(`${maximumDepth} levels are allowed`, () => {
    expect(compact(nested(maximumDepth))).toBe(nested(maximumDepth))
  })

  test.each([maximumDepth + 1, 10_000, 1_000_000])('%i levels are too deep', (depth) => {
    expect(() => compact(nested(depth))).toThrow('JSON nests deeper than 1000 levels at byte 1000')
    expect(() => compact('{"a":'.repeat(depth))).toThrow('JSON nests deeper than 1000 levels')
  })

  test('containers that were entered by hand count', () => {
    const scanner = new JsonScanner(Buffer.from(nested(maximumDepth + 1)))
    scanner.openArray()
    scanner.nextElement()
    expect(() => scanner.value()).toThrow('JSON nests deeper than 1000 levels')
  })
})

describe('walking', () => {
  test('gives the spans of members, in order, duplicates too', () => {
    const text = '{ "a" : [1, 2] , "b":{"c":null},"a": "x" }'
    const scanner = new JsonScanner(Buffer.from(text))
    const members: [string, string][] = []
    expect(scanner.openArray()).toBe(false)
    expect(scanner.openObject()).toBe(true)
    while (scanner.nextMember()) {
      const key = text.slice(scanner.keyStart, scanner.keyEnd)
      const start = scanner.value()
      members.push([key, text.slice(start, scanner.position)])
    }
    scanner.finish()
    expect(members).toEqual([
      ['"a"', '[1, 2]'],
      ['"b"', '{"c":null}'],
      ['"a"', '"x"'],
    ])
  })

  test('goes into nested containers and comes out again', () => {
    const scanner = new JsonScanner(Buffer.from('[{"a":[]},{},[[1],[]],2]'))
    const walk = (): unknown => {
      if (scanner.openArray()) {
        const elements: unknown[] = []
        while (scanner.nextElement()) elements.push(walk())
        return elements
      }
      if (scanner.openObject()) {
        const members: unknown[] = []
        while (scanner.nextMember()) members.push(walk())
        return { members }
      }
      scanner.value()
      return 'scalar'
    }
    expect(walk()).toEqual([{ members: [[]] }, { members: [] }, [['scalar'], []], 'scalar'])
    scanner.finish()
  })

  test.each(['[1,]', '[,]', '[1 2]', '{"a":1,}', '{"a":1 "b":2}', '{,}', '[1', '{"a":1'])(
    'refuses %s',
    (text) => {
      const scanner = new JsonScanner(Buffer.from(text))
      expect(() => {
        if (scanner.openArray()) while (scanner.nextElement()) scanner.value()
        if (scanner.openObject()) while (scanner.nextMember()) scanner.value()
      }).toThrow('not JSON')
    },
  )
})
