/** Topics and templates of automations: their settings are kept, and nothing is run by them. */
import { expect, test } from 'vitest'
import type { Session, Suite } from './session.ts'

const here = ['-p', 'topics']

export function topicTests({ isNew, session }: Suite): void {
  test('settings of topics are kept, shown, changed and removed', async () => {
    const { bt, service } = session()
    await service.project('topics')
    expect(await bt.ok(['topics', ...here])).toContain('No topic automations found')
    // The automation is kept; then it would be told where to begin.
    const enabled = await bt.run(['topics', 'config', 'enable', '--name', 'T', ...here])
    expect(enabled.code).not.toBe(0)
    expect(enabled.told).toContain(notRun)
    const topics = (...command: string[]) => bt.ok(['topics', 'config', ...command, ...here])
    expect(await topics()).toMatch(/Topic automations: 1\s+T \(/)
    await topics('set', '--sampling-rate', '25', '--filter', 'error is null')
    expect(await automations(session())).toMatchObject([
      { name: 'T', config: { sampling_rate: 0.25, btql_filter: 'error is null' } },
    ])
    await topics('set', '--clear-filter', '--description', 'd')
    const [changed] = await automations(session())
    expect(changed).toMatchObject({ description: 'd', config: { sampling_rate: 0.25 } })
    expect(changed?.config).not.toHaveProperty('btql_filter')
    await topics('topic-map', 'set', 'Task', '--embedding-model', 'm')
    expect(await topics('topic-map', 'show', 'Task')).toContain('embedding model: m')

    const status = await bt.run(['topics', 'status', ...here])
    expect(status.code).not.toBe(0)
    expect(status.told).toContain(notRun)
    for (const command of ['report', 'btmap']) {
      const id = '00000000-0000-4000-8000-000000000000'
      const { code, told } = await bt.run(['topics', command, '--id', id, ...here])
      expect(code).not.toBe(0)
      expect(told).toContain(notRun)
    }
    await topics('delete', '--force')
    expect(await automations(session())).toEqual([])
  })

  test.runIf(isNew)('a template of automations is pushed and pulled', async () => {
    const { bt } = session()
    const template = {
      kind: 'active_observability_template',
      schema_version: 1,
      facets: [],
      automations: [{ name: 'Look', description: 'd', config: windowed }],
    }
    bt.write('template.json', JSON.stringify(template))
    const command = ['observability', 'template']
    await bt.ok([...command, 'push', 'template.json', '--yes', ...here])
    expect(await bt.json([...command, 'pull', ...here])).toEqual(template)
  })
}

const notRun = 'This service keeps automations but runs none'

const windowed = {
  event_type: 'windowed',
  window: {
    window_seconds: 3600,
    schedule: { cron_expression: '0 * * * *', timezone: 'UTC' },
    evaluation_delay_seconds: 60,
  },
  loop: { prompt: 'look' },
}

interface Automation {
  readonly config: object
}

async function automations({ service }: Session): Promise<Automation[]> {
  const { json } = await service.request('/v1/project_automation?project_name=topics')
  return json.objects as unknown as Automation[]
}
