import { expect, test } from 'vitest'
import { newTraceId } from '../../src/server/trace-id.ts'

test('trace ids are random UUIDs without dashes, each given once', () => {
  const ids = Array.from({ length: 1000 }, newTraceId)
  expect(new Set(ids).size).toBe(1000)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
})
