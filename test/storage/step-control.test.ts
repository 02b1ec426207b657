import { describe, expect, it } from 'vitest'
import { checkpoint, hasGivenWay, StepControl } from '../../src/storage/maintenance/step-control.ts'

function thrownBy({ state }: StepControl): unknown {
  try {
    checkpoint(state)
    return undefined
  } catch (thrown) {
    return thrown
  }
}

describe('a step of maintenance', () => {
  it('goes on until it is asked to give way, and the next one does again', () => {
    const control = new StepControl()
    expect(thrownBy(control)).toBeUndefined()
    control.giveWay()
    expect(control.hasAskedForWay).toBe(true)
    expect(hasGivenWay(thrownBy(control))).toBe(true)
    control.begin()
    expect(control.hasAskedForWay).toBe(false)
    expect(thrownBy(control)).toBeUndefined()
  })

  it('ends when the segments are closed, as do all after it', () => {
    const control = new StepControl()
    control.close()
    control.begin()
    control.giveWay()
    const thrown = thrownBy(control)
    expect(thrown).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect(hasGivenWay(thrown)).toBe(false)
  })
})
