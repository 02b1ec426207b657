/** Prompts, tools, scorers and other functions: kept with all versions, and not run. */
import { expect, test } from 'vitest'
import type { AnyJson } from '../../support/running-service.ts'
import type { Session, Suite } from './session.ts'

const here = ['-p', 'app']

export function functionTests({ isNew, session }: Suite): void {
  test('files of functions are pushed, and pushed again', async () => {
    const { bt } = session()
    bt.write('code.ts', code)
    bt.write('prompts.ts', prompts('hello {{who}}'))
    const push = ['functions', 'push', '--yes', ...here]
    const both = await bt.json([...push, 'code.ts', 'prompts.ts'])
    expect(both).toMatchObject({ status: 'success', uploaded_files: 2 })
    const again = await bt.run([...push, 'prompts.ts'])
    expect(again.code).not.toBe(0)
    expect(again.told).toContain('There is a prompt or function')
    bt.write('prompts.ts', prompts('good day {{who}}'))
    const exists = (what: string) => bt.json([...push, 'prompts.ts', '--if-exists', what])
    expect(await exists('replace')).toMatchObject({ status: 'success', ignored_entries: 0 })
    expect(await exists('ignore')).toMatchObject({ status: 'success', ignored_entries: 2 })
    expect(await functions(session())).toMatchObject([
      { slug: 'adder', function_type: 'tool', function_data: { data: { type: 'bundle' } } },
      { slug: 'exact', function_type: 'scorer', function_data: { data: { type: 'bundle' } } },
      {
        slug: 'greeting',
        prompt_data: { prompt: { messages: [{ content: 'good day {{who}}' }] } },
      },
      { slug: 'judge', prompt_data: { parser: { choice_scores: { A: 1, B: 0 } } } },
    ])
  })

  test('functions are listed by type and seen', async () => {
    const { bt } = session()
    const slugs = async (...command: string[]) =>
      ((await bt.json([...command, ...here])) as unknown as { slug: string }[])
        .map(({ slug }) => slug)
        .sort()
    expect(await slugs('functions', 'list')).toEqual(['adder', 'exact', 'greeting', 'judge'])
    expect(await slugs('functions', 'list', '--type', 'tool')).toEqual(['adder'])
    expect(await slugs('tools', 'list')).toEqual(['adder'])
    expect(await slugs('scorers', 'list')).toEqual(['exact', 'judge'])
    expect(await bt.ok(['functions', 'view', 'adder', ...here])).toMatch(/Type: tool\s.*adds/)
    expect(await bt.ok(['scorers', 'view', 'judge', ...here])).toContain('is {{output}} right?')
    const { id } = await bt.json(['tools', 'view', 'adder', ...here])
    expect(await bt.ok(['functions', 'view', '--id', String(id), ...here])).toContain('Adder')
  })

  test('functions are not run', async () => {
    const { bt } = session()
    for (const command of ['functions', 'tools']) {
      const { code, told } = await bt.run([command, 'invoke', 'adder', '-i', '{"a":1}', ...here])
      expect(code).not.toBe(0)
      expect(told).toContain('This service keeps functions but runs none')
    }
  })

  test('prompts are pulled into files that push them back', async () => {
    const { bt } = session()
    const pull = ['functions', 'pull', '--force', ...here]
    // Tools and scorers of code are left out.
    const all = { functions_materialized: 2, unsupported_records_skipped: 2, files_written: 1 }
    expect(await bt.json(pull)).toMatchObject(all)
    const pulled = bt.read('braintrust/app.ts')
    expect(pulled).toContain('good day {{who}}')
    const python = ['--language', 'python', '--output-dir', 'py', 'greeting']
    expect(await bt.json([...pull, ...python])).toMatchObject({ functions_materialized: 1 })
    expect(bt.read('py/app.py')).toContain('good day {{who}}')

    bt.write('braintrust/app.ts', pulled.replace('good day', 'farewell'))
    const push = ['functions', 'push', 'braintrust/app.ts', '--if-exists', 'replace', '--yes']
    await bt.ok([...push, ...here])
    expect(await bt.ok(['prompts', 'view', 'greeting', ...here])).toContain('farewell {{who}}')
  })

  test.runIf(isNew)('a prompt has versions, which environments are given', async () => {
    const { bt, service } = session()
    await service.request('/environment', { body: { name: 'Production', slug: 'production' } })
    const prompts = (action: string, ...more: string[]) =>
      bt.ok(['prompts', action, ...more, ...here])
    const versions = await bt.json(['prompts', 'versions', 'greeting', ...here])
    expect(versions).toHaveLength(3)
    const first = (versions as unknown as string[])[2]!
    expect(await prompts('view', 'greeting', '--version', first)).toContain('hello {{who}}')
    const production = ['--environment', 'production']
    expect((await bt.run(['prompts', 'view', 'greeting', ...production, ...here])).code).not.toBe(0)
    await prompts('assign', 'greeting', ...production, '--version', first)
    expect(await prompts('view', 'greeting', ...production)).toContain('hello {{who}}')
    expect(await prompts('list', ...production)).toContain(first)
    const viewed = await bt.ok(['functions', 'view', 'greeting', ...production, ...here])
    expect(viewed).toContain('hello {{who}}')
    await prompts('unassign', 'greeting', ...production)
    expect(await prompts('list', ...production)).toContain('0 prompts found')
  })

  test.runIf(isNew)('scorers and classifiers are made from the command line', async () => {
    const { bt } = session()
    const create = (name: string, ...more: string[]) => {
      const content = [{ role: 'user', content: 'ok? {{output}}' }]
      const judge = ['--model', 'gpt-4o', '--messages', JSON.stringify(content)]
      return bt.ok(['scorers', 'create', name, ...judge, ...more, ...here])
    }
    await create('Helpful', '--choice-scores', '{"A":1,"B":0}', '--pass-threshold', '0.5')
    await create('Kind', '--classifications', '["x","y"]', '--allow-no-match', '--metadata', 'a: 1')
    expect(await functions(session(), ['helpful', 'kind'])).toMatchObject([
      {
        function_type: 'scorer',
        metadata: { __pass_threshold: 0.5 },
        prompt_data: { parser: { choice_scores: { A: 1, B: 0 }, use_cot: true } },
      },
      {
        function_type: 'classifier',
        metadata: { a: 1 },
        prompt_data: { parser: { allow_no_match: true, choice: ['x', 'y'] } },
      },
    ])
    const listed = await bt.ok(['scorers', 'list', ...here])
    for (const slug of ['helpful', 'kind', 'exact']) expect(listed).toContain(slug)
    for (const slug of ['helpful', 'kind']) {
      await bt.ok(['functions', 'delete', slug, '--force', ...here])
    }
  })

  test('prompts and functions are removed', async () => {
    const { bt } = session()
    await bt.ok(['prompts', 'delete', 'greeting', '--force', ...here])
    await bt.ok(['tools', 'delete', 'adder', '--force', ...here])
    await bt.ok(['scorers', 'delete', 'exact', '--force', ...here])
    await bt.ok(['functions', 'delete', 'judge', '--force', ...here])
    expect(await functions(session())).toEqual([])
    const gone = await bt.run(['tools', 'delete', 'adder', '--force', ...here])
    expect(gone.told).toContain('not found')
  })
}

const code = `
import braintrust from 'braintrust'
import { z } from 'zod'
const project = braintrust.projects.create({ name: 'app' })
project.tools.create({
  name: 'Adder', slug: 'adder', description: 'adds',
  parameters: z.object({ a: z.number(), b: z.number() }), returns: z.number(),
  handler: ({ a, b }: { a: number; b: number }) => a + b,
})
project.scorers.create({
  name: 'Exact', slug: 'exact', parameters: z.object({ output: z.any(), expected: z.any() }),
  handler: ({ output, expected }: any) => (output === expected ? 1 : 0),
})
`

function prompts(greeting: string): string {
  return `
import braintrust from 'braintrust'
const project = braintrust.projects.create({ name: 'app' })
const user = (content: string) => [{ role: 'user' as const, content }]
project.prompts.create({ name: 'Greeting', slug: 'greeting', model: 'gpt-4o', messages: user('${greeting}') })
project.scorers.create({
  name: 'Judge', slug: 'judge', model: 'gpt-4o', messages: user('is {{output}} right?'),
  useCot: true, choiceScores: { A: 1, B: 0 },
})
`
}

async function functions({ service, project }: Session, slugs?: string[]): Promise<AnyJson[]> {
  const { json } = await service.request(`/v1/function?project_id=${project}`)
  const all = json.objects as unknown as AnyJson[]
  return all
    .filter(({ slug }) => slugs === undefined || slugs.includes(String(slug)))
    .sort((a, b) => String(a.slug).localeCompare(String(b.slug)))
}
