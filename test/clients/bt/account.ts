/** Logging in, where commands go, projects, environments, and what is set up on the user's machine. */
import { expect, test } from 'vitest'
import { testKey } from '../../support/running-service.ts'
import type { Suite } from './session.ts'

export function accountTests({ isNew, session }: Suite): void {
  test('a key in the environment is enough, and a wrong one is refused', async () => {
    const { bt } = session()
    expect(await bt.ok(['projects', 'list'])).toMatch(/1 projects? found in default/)
    const wrong = await bt.run(['projects', 'list'], {
      environment: { BRAINTRUST_API_KEY: `${testKey}x` },
    })
    expect(wrong.code).not.toBe(0)
    expect(wrong.told).toContain('401')
    expect(wrong.told).toContain('no valid API key')
  })

  test('a login that is saved is used without the environment, until it is removed', async () => {
    const { bt, service } = session()
    const saved = { environment: { BRAINTRUST_API_KEY: null, BRAINTRUST_APP_URL: service.url } }
    const login = isNew ? ['login', '--save-env-api-key'] : ['auth', 'login']
    expect(await bt.ok([...login, '--profile', 'work'])).toContain('Logged in as default')
    const profiles = isNew ? ['profiles', 'list'] : ['auth', 'profiles']
    expect(await bt.ok(profiles, saved)).toMatch(/work\b.*api_key/)
    expect(await bt.json(['projects', 'list', '--profile', 'work'], saved)).toMatchObject([
      { name: 'app' },
    ])
    expect(await bt.ok(['status', '--profile', 'work'], saved)).toMatch(/org: +default/)
    const target = isNew ? 'app' : 'default/app'
    await bt.ok(['switch', target, '--profile', 'work'], saved)
    expect(await bt.json(['status'], saved)).toMatchObject({ org: 'default', project: 'app' })
    expect(await bt.ok(['datasets', 'list'], saved)).toContain('0 datasets found in default / app')
    if (isNew) {
      await bt.ok(['profiles', 'rename', 'work', 'job'], saved)
      expect(await bt.ok(['profiles', 'doctor'], saved)).toContain('No orphaned credentials')
      await bt.ok(['profiles', 'delete', 'job', '--force'], saved)
    } else await bt.ok(['auth', 'logout', '--profile', 'work', '--force'], saved)
    expect(await bt.ok(profiles, saved)).toContain('No saved profiles')
    expect((await bt.run(['projects', 'list'], saved)).code).not.toBe(0)
  })

  test('projects are made, listed, opened in the browser and removed', async () => {
    const { bt, service } = session()
    expect(await bt.ok(['projects', 'create', 'second & last'])).toContain('Successfully created')
    const twice = await bt.run(['projects', 'create', 'second & last'])
    expect(twice.told).toContain('already exists')
    const listed = await bt.json(['projects', 'list'])
    expect(listed).toMatchObject([{ name: 'second & last' }, { name: 'app' }])
    const url = `${service.url}/app/default/p/second%20%26%20last`
    expect(await bt.ok(['projects', 'view', 'second & last'])).toContain(url)
    expect(bt.read('opened')).toContain(url)
    expect((await fetch(url)).status).toBe(200)
    await bt.ok(['projects', 'delete', 'second & last', '--force'])
    expect(await bt.json(['projects', 'list'])).toMatchObject([{ name: 'app' }])
    const gone = await bt.run(['projects', 'delete', 'second & last', '--force'])
    expect(gone.told).toContain('not found')
  })

  test('a folder is linked to a project', async () => {
    const { bt } = session()
    const { out, told } = await bt.run(['init', '--org', 'default', '--project', 'app'])
    expect(out + told).toContain('Created .bt/config.json')
    expect(await bt.json(['status'])).toMatchObject({ org: 'default', project: 'app' })
  })

  test('what is set up on the machine is told without the service', async () => {
    const { bt } = session()
    expect(await bt.ok(['setup', 'doctor'])).toContain('not configured')
    const version = await bt.ok(['util', 'version', 'to-time', '1000198276313382914'])
    expect(version.trim()).toBe('2026-11-26T18:04:14Z')
  })

  test.runIf(isNew)('environments are made, changed and removed', async () => {
    const { bt, service } = session()
    const stored = async () => {
      const { json } = await service.request('/environment')
      return (json.objects as unknown as object[]) ?? []
    }
    await bt.ok(['environments', 'create', 'Production', '--description', 'live'])
    expect(await stored()).toMatchObject([{ slug: 'production', description: 'live' }])
    expect(await bt.ok(['environments', 'list'])).toMatch(/Production +production +live/)
    await bt.ok(['environments', 'update', 'production', '--name', 'Live', '--new-slug', 'live'])
    await bt.ok(['environments', 'update', 'live', '--clear-description'])
    expect(await bt.ok(['environments', 'view', 'live'])).toContain('Slug: live')
    expect(await stored()).toMatchObject([{ name: 'Live', slug: 'live', description: null }])
    await bt.ok(['environments', 'delete', 'live', '--force'])
    expect(await stored()).toEqual([])
  })
}
