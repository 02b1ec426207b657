import { expect, vi } from 'vitest'
import type { AnyJson, RunningService } from './running-service.ts'

type Service = Pick<RunningService, 'request'>

/** Carries out a retention; resolves to how the run went. */
export async function carryOut(service: Service, automation: string): Promise<AnyJson> {
  const state = await endOfRun(service, '/v1/retention', automation)
  expect(state.error).toBeNull()
  return state.last!
}

/** Runs a scheduled export; resolves to what it wrote. */
export async function runExport(service: Service, automation: string): Promise<AnyJson> {
  const state = await endOfRun(service, '/v1/export', automation)
  expect(state.error).toBeNull()
  return state.last!
}

/** The same of one that fails; resolves to why. */
export async function failedExport(service: Service, automation: string): Promise<string> {
  const { status, error } = await endOfRun(service, '/v1/export', automation)
  expect(status).toBe('failed')
  return String(error!.message)
}

/** Begins a run; resolves to its state once it has ended. */
async function endOfRun(
  service: Service,
  path: string,
  project_automation_id: string,
): Promise<AnyJson> {
  const begun = await service.request(`${path}/run`, { body: { project_automation_id } })
  expect(begun.status, begun.text).toBe(200)
  let state = begun.json
  // Hooks of tests may wait like this, too.
  await vi.waitFor(
    async () => {
      state = (await service.request(`${path}/${project_automation_id}`)).json
      expect(state.status).not.toMatch(/running|queued/)
    },
    { timeout: 60_000, interval: 20 },
  )
  return state
}
