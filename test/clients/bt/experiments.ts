/** Experiments, and files of evaluations, which `bt` runs itself. */
import { beforeAll, expect, test } from 'vitest'
import type { Suite } from './session.ts'

const here = ['-p', 'app']

export function experimentTests({ isNew, session }: Suite): void {
  beforeAll(async () => {
    const { service, project } = session()
    for (const [name, low] of [
      ['base', 0.25],
      ['next', 0.75],
      ['third', 0],
    ] as const) {
      const id = await service.create('experiment', project, name)
      const events = [low, low, 1].map((exact, input) => ({
        id: `${name}-${input}`,
        input,
        scores: { exact },
        metrics: { start: 100, end: 101 + low },
      }))
      await service.insert('experiment', id, events)
    }
  })

  test('experiments are listed and seen', async () => {
    const { bt, service } = session()
    const listed = await bt.json(['experiments', 'list', ...here])
    expect(listed).toMatchObject([{ name: 'third' }, { name: 'next' }, { name: 'base' }])
    const url = `${service.url}/app/default/p/app/experiments/base`
    expect(await bt.ok(['experiments', 'view', 'base', ...here])).toContain(url)
    await bt.ok(['experiments', 'view', 'base', '--web', ...here])
    expect(bt.read('opened')).toContain(url)
  })

  test.runIf(isNew)('several experiments are compared with a base', async () => {
    const { bt, service } = session()
    const report = await bt.json(['experiments', 'compare', 'base', 'next', 'third', ...here])
    const exact = (report.rows as unknown as { metric: string }[]).filter(
      ({ metric }) => metric === 'exact',
    )
    expect(exact).toMatchObject([
      { experiment: 'base', role: 'base', value: 0.5, delta_vs_base: null },
      { experiment: 'next', improvements: 2, regressions: 0 },
      { experiment: 'third', improvements: 0, regressions: 2 },
    ])
    expect(exact[1]).toMatchObject({ delta_vs_base: expect.closeTo(1 / 3) })
    const url = `${service.url}/app/default/p/app/experiments/base?c=next`
    const text = await bt.ok(['experiments', 'compare', url, '--all', ...here])
    expect(text).toMatch(/exact +50\.00% +83\.33% \(\+33\.33%; ↑2\)/)
    expect(text).toMatch(/duration +1\.25s +1\.75s \(\+0\.50s; ↓3\)/)
  })

  test('an experiment is removed', async () => {
    const { bt } = session()
    await bt.ok(['experiments', 'delete', 'third', '--force', ...here])
    const listed = await bt.json(['experiments', 'list', ...here])
    expect(listed).toMatchObject([{ name: 'next' }, { name: 'base' }])
    const gone = await bt.run(['experiments', 'view', 'third', ...here])
    expect(gone.told).toContain('not found')
  })

  test('an evaluation is run on the machine and logged here', async () => {
    const { bt, service, project } = session()
    bt.write('double.eval.ts', evaluation)
    expect(await bt.ok(['eval', 'double.eval.ts', '--list'])).toContain('experimentName=doubled')
    const local = await bt.ok(['eval', 'double.eval.ts', '--jsonl', '--no-send-logs'])
    expect(local).toMatch(/"exact":\{"name":"exact","score":0\.5/)
    const printed = await bt.ok(['eval', 'double.eval.ts'])
    expect(printed).toContain(`${service.url}/app/default/p/app/experiments/doubled`)
    expect(printed).toMatch(/exact.*50\.00%/)
    const found = await service.request(
      `/v1/experiment?project_id=${project}&experiment_name=doubled`,
    )
    const { json } = await service.query(
      `select: input, output, scores | from: experiment('${found.json.objects?.[0]?.id}') summary | sort: output`,
    )
    expect(json.data).toEqual([
      { input: 1, output: 2, scores: { exact: 1 } },
      { input: 2, output: 4, scores: { exact: 0 } },
    ])
  })
}

const evaluation = `
import { Eval } from 'braintrust'
Eval('app', {
  experimentName: 'doubled',
  data: () => [{ input: 1, expected: 2 }, { input: 2, expected: 5 }],
  task: (n: number) => 2 * n,
  scores: [({ output, expected }) => ({ name: 'exact', score: output === expected ? 1 : 0 })],
})
`
