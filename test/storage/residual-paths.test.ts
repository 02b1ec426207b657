/** Where residuals begin is never a long list, and always tells of all of them. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  boundedResidualPaths,
  maximumResidualPaths,
} from '../../src/storage/shred/residual-paths.ts'

const isWithin = (path: readonly string[], around: readonly string[]) =>
  around.every((name, depth) => path[depth] === name)

it('has each path, or one around it, and none twice', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'a.b', '')
  const some = fc.array(fc.array(names, { maxLength: 4 }), { maxLength: 20 })
  fc.assert(
    fc.property(
      some,
      fc.array(fc.array(names, { minLength: 1, maxLength: 2 })),
      (paths, around) => {
        const many = around.flatMap((path) =>
          Array.from({ length: 600 }, (_, i) => [...path, `name ${i}`]),
        )
        const bounded = boundedResidualPaths([...paths, ...many])
        expect(bounded.length).toBeLessThanOrEqual(maximumResidualPaths)
        for (const path of [...paths, ...many]) {
          expect(bounded.filter((listed) => isWithin(path, listed))).toHaveLength(1)
        }
      },
    ),
    { numRuns: 50 },
  )
})

it('keeps the paths as they are while they are few', () => {
  const paths = Array.from({ length: maximumResidualPaths }, (_, i) => ['m', `${i}`])
  expect(boundedResidualPaths(paths)).toEqual(paths)
  expect(boundedResidualPaths([...paths, ['tags']])).toEqual([['tags'], ['m']])
})

it('goes on with what is around when no object has many', () => {
  const paths = Array.from({ length: maximumResidualPaths + 1 }, (_, i) => ['m', `${i}`, 'x', 'y'])
  expect(boundedResidualPaths(paths)).toEqual([['m']])
})
