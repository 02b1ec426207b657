import { expect } from 'vitest'
import type { AnyJson, RunningService } from './running-service.ts'

/** Carries out a retention; resolves to how the run went. */
export async function carryOut(
  service: Pick<RunningService, 'request'>,
  project_automation_id: string,
): Promise<AnyJson> {
  const begun = await service.request('/v1/retention/run', { body: { project_automation_id } })
  expect(begun.status, begun.text).toBe(200)
  let state = begun.json
  await expect
    .poll(
      async () => {
        state = (await service.request(`/v1/retention/${project_automation_id}`)).json
        return state.status
      },
      { timeout: 60_000, interval: 20 },
    )
    .not.toMatch(/running|queued/)
  expect(state.error).toBeNull()
  return state.last!
}
