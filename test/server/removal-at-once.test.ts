/**
 * After something is removed nothing that depended on it works, at once and everywhere, and all else does: over
 * real sockets, with all open that can be.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { makeRemovalWorld } from '../support/removal-world.ts'
import { RunningService } from '../support/running-service.ts'

const worlds = isSlow ? 10 : 1
const removalsOfEach = 5

test('what is removed takes all with it that depended on it, and nothing else', {
  timeout: 600_000,
}, async () => {
  let [ended, kept, removed] = [0, 0, 0]
  const orders = fc.sample(fc.infiniteStream(fc.nat()), { numRuns: worlds, seed: randomSeed })
  for (const order of orders) {
    const service = await RunningService.start({ ASSAY_WORKERS: '1', ASSAY_WARM_UP: '0' })
    try {
      const { open, removals } = await makeRemovalWorld(service)
      let alive = [...open]
      const left = [...removals]
      for (let i = 0; i < removalsOfEach; i++) {
        const [removal] = left.splice(order.next().value! % left.length, 1)
        const { status, text } = await removal!.remove()
        // What has gone with something else is not there any more.
        expect([200, 204, 400, 401, 403], `${removal!.what}: ${text}`).toContain(status)
        removed++
        const gone = alive.filter(({ needs }) => needs.includes(removal!.takes))
        alive = alive.filter((one) => !gone.includes(one))
        await Promise.all(gone.map((one) => one.ended()))
        await Promise.all(alive.map((one) => one.works()))
        ended += gone.length
      }
      await Promise.all(alive.map((one) => one.works()))
      for (const one of alive) await one.finish?.()
      kept += alive.length
    } finally {
      await service.stop()
    }
  }
  console.log(`removals: ${removed}, ended: ${ended}, kept: ${kept}, seed ${randomSeed}`)
})
