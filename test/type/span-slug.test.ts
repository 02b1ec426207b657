import { expect, test } from 'vitest'
import { parseSpanSlug } from '../../src/type/span-slug.ts'

/** As clients of these versions have exported them. */
test.each([
  [
    '0.0.124',
    'AQEBAd1u2aowH0aDvMKMx6E67P8/dRSNYTtB45RkioPIPT/HP3UUjWE7QeOUZIqDyD0/x8PIIEZ1i0pOhEECZPAFg8Q=',
    {
      objectTypes: ['experiment', 'project_logs'],
      objectId: 'dd6ed9aa-301f-4683-bcc2-8cc7a13aecff',
      objectArguments: undefined,
      span: {
        spanId: '3f75148d-613b-41e3-9464-8a83c83d3fc7',
        rootSpanId: '3f75148d-613b-41e3-9464-8a83c83d3fc7',
      },
    },
  ],
  [
    '0.0.201',
    'AwIDAtyikNepLUVVkMXTpugt22cDgYeIBlPnQ7SvKePWho7fmQSBh4gGU+dDtK8p49aGjt+ZeyJjb21wdXRlX29iamVjdF9tZXRhZGF0YV9hcmdzIjp7InByb2plY3RfbmFtZSI6InNsdWdzIn19',
    {
      objectTypes: ['project_logs'],
      objectId: undefined,
      objectArguments: { project_name: 'slugs' },
      span: {
        spanId: '81878806-53e7-43b4-af29-e3d6868edf99',
        rootSpanId: '81878806-53e7-43b4-af29-e3d6868edf99',
      },
    },
  ],
  [
    '3.35.0',
    'BAICAz0M82rfdKq+BOQjd2mVs0e/2KRK9bm8E+x7ImNvbXB1dGVfb2JqZWN0X21ldGFkYXRhX2FyZ3MiOnsicHJvamVjdF9uYW1lIjoic2x1Z3MifSwicm93X2lkIjoiY2Q0NTdlMzBhYzMzNTJkNiJ9',
    {
      objectTypes: ['project_logs'],
      objectId: undefined,
      objectArguments: { project_name: 'slugs' },
      span: { spanId: '3d0cf36adf74aabe', rootSpanId: 'e423776995b347bfd8a44af5b9bc13ec' },
    },
  ],
])('a span exported by %s', (_, slug, expected) => {
  expect(parseSpanSlug(slug)).toEqual(expected)
})

test('the second form: an object to be registered, and a span', () => {
  const given = Buffer.from('{"project_name":"p"}')
  const span = Buffer.alloc(16, 0xab)
  const root = Buffer.alloc(16, 0xcd)
  const head = Buffer.from([2, 2, 0, 1, 1, 1, 0, 0, 0, given.length])
  const slug = Buffer.concat([head, given, span, root, span]).toString('base64')
  expect(parseSpanSlug(slug)).toEqual({
    objectTypes: ['project_logs'],
    objectId: undefined,
    objectArguments: { project_name: 'p' },
    span: {
      spanId: 'abababab-abab-abab-abab-abababababab',
      rootSpanId: 'cdcdcdcd-cdcd-cdcd-cdcd-cdcdcdcdcdcd',
    },
  })
})

test.each(['', 'x', '!!!', 'BQIC', 'BAn/', 'BAID', 'AQEB', 'AgIBAAEA', 'BAIAW10='])(
  '%j is no exported span',
  (text) => {
    expect(() => parseSpanSlug(text)).toThrow('is no exported span')
  },
)
