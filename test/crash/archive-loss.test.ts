/** What a dead disk costs while `assay backup --schedule … --archive` runs: no more than was written since the last archive. */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runAssay, serveAssay, spawnAssay } from '../support/assay-process.ts'
import { isSlow } from '../support/random-seed.ts'
import { RunningService, testKey } from '../support/running-service.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const archiveSeconds = 2
/** For the archive itself, on a machine that has other things to do. */
const allowedSeconds = 10
const writingSeconds = isSlow ? 120 : 10

test('all that was acknowledged so many seconds before the disk died is restored', {
  timeout: (writingSeconds + 180) * 1000,
}, async () => {
  const parent = await makeTemporaryDirectory('archive-loss')
  const [data, folder, again] = ['data', 'backups', 'again'].map((name) => join(parent, name))
  const served = await serveAssay(data!, { ASSAY_BOOTSTRAP_KEY: testKey, ASSAY_WARM_UP: '0' })
  const headers = { authorization: `Bearer ${testKey}` }
  const post = async (path: string, body: object) => {
    const response = await fetch(served.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as { readonly id: string }
  }
  const { id: project } = await post('/v1/project', { name: 'p' })
  const { id: experiment } = await post('/v1/experiment', { project_id: project, name: 'e' })
  const environment = { ASSAY_URL: served.url, ASSAY_API_KEY: testKey }
  const schedule = spawnAssay(
    ['backup', folder!, '--schedule', '1h', '--archive', `${archiveSeconds}s`],
    environment,
  )
  let said = ''
  schedule.stderr?.on('data', (data) => {
    said += data
  })
  const lastArchive = async (): Promise<number> => {
    const response = await fetch(`${served.url}/admin/status`, { headers })
    const { backup } = (await response.json()) as { backup: { last: string | null } }
    return backup.last === null ? 0 : Date.parse(backup.last)
  }
  await expect.poll(lastArchive, { message: said }).toBeGreaterThan(0)
  const acknowledged: { readonly id: string; readonly at: number }[] = []
  const until = Date.now() + writingSeconds * 1000
  while (Date.now() < until) {
    const id = `r${acknowledged.length}`
    await post(`/v1/experiment/${experiment}/insert`, { events: [{ id, input: id }] })
    acknowledged.push({ id, at: Date.now() })
    await sleep(5)
  }
  const archived = await lastArchive()
  served.child.kill('SIGKILL')
  const died = Date.now()
  await served.exit
  await rm(data!, { recursive: true })
  schedule.kill('SIGKILL')
  await once(schedule, 'close')

  const { code, stderr } = await runAssay(['restore', folder!, '--data-dir', again!])
  expect(stderr).toContain('Each row was read and checked')
  expect(code).toBe(0)
  const service = await RunningService.over(again!)
  const { json } = await service.query(`select: id | from: experiment('${experiment}')`)
  const found = new Set((json.data as unknown as { id: string }[]).map(({ id }) => id))
  await service.stop()
  const lost = acknowledged.filter(({ id }) => !found.has(id))
  const seconds = lost.length === 0 ? 0 : (died - lost[0]!.at) / 1000
  console.log(
    `${acknowledged.length} writes in ${writingSeconds} s, archived every ${archiveSeconds} s: ` +
      `lost ${lost.length}, the oldest of them ${seconds.toFixed(1)} s old`,
  )
  // What was acknowledged before the last archive that the service was told of began is in it.
  expect(lost.filter(({ at }) => at < archived)).toEqual([])
  expect(seconds).toBeLessThan(archiveSeconds + allowedSeconds)
  await rm(parent, { recursive: true, force: true })
})
