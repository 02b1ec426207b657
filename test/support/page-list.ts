/** Every page and every window of the web page: tests look at each of them, over what `page-world.ts` fills in. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import {
  type Section,
  type SettingsPartId,
  sections,
  settingsPartIds,
} from '../../src/ui/state/sections.ts'

/** The id of what has this name in the world. */
export type IdOf = (name: string) => string

export interface Shown {
  readonly name: string
  readonly path: string
  /** What is there once all of it has come. */
  readonly last: string
  /** What a person does there first. */
  readonly act?: (page: Page) => Promise<void>
  /** How a page is when one comes to it by the menu. */
  readonly isFirst?: boolean
  /** A window, by the file of `src/ui/page` that has it. */
  readonly window?: string
  readonly isSignedOut?: true
  /** By a member who may read and no more. */
  readonly isOfReader?: true
}

const button = (name: string, exact = true) => {
  return (page: Page) => page.getByRole('button', { name, exact }).first().click()
}
const keys = (...pressed: readonly string[]) => {
  return async (page: Page) => {
    for (const key of pressed) await page.keyboard.press(key)
  }
}
const both = (...steps: readonly ((page: Page) => Promise<void>)[]) => {
  return async (page: Page) => {
    for (const step of steps) await step(page)
  }
}
const check = (label: string) => (page: Page) =>
  page.getByLabel(label, { exact: true }).first().check()

const home = '/app/default/p/support'
const nothing = '/app/default/p/empty'
const averages =
  'dimensions: day(created) as day, metadata.model as model | measures: avg(metrics.duration) as seconds'
const query = `${home}/query?q=${averages} | from: project_logs('support')`

/** Of pages that a project has. A page without an entry here does not compile. */
export function projectPages(id: IdOf): Readonly<Record<Section, readonly Shown[]>> {
  const logs = `${home}/logs?live=off`
  const trace = `${logs}&trace=${id('trace')}`
  return {
    home: [
      { name: 'home', path: `${home}/home?time=7d`, last: '[aria-label="Cost over time"]' },
      { name: 'home-quiet', path: `${home}/home`, last: '.empty' },
      { name: 'home-empty', path: `${nothing}/home`, last: 'h2' },
    ],
    logs: [
      { name: 'logs', path: `${logs}&q=error is not null`, last: 'tr[data-index="0"]' },
      { name: 'logs-spans', path: `${logs}&rows=spans`, last: 'tr[data-index="0"]' },
      { name: 'logs-live', path: `${home}/logs`, last: 'tr[data-index="0"]' },
      { name: 'logs-facets', path: `${logs}&facets=type,error`, last: '.facets input' },
      { name: 'logs-trace', path: trace, last: '[role=treeitem]' },
      { name: 'logs-span', path: `${trace}&span=${id('span')}`, last: '[role=treeitem]' },
      { name: 'logs-trace-wide', path: `${trace}&wide=yes`, last: '[role=treeitem]' },
      {
        name: 'logs-trace-compared',
        path: `${trace}&with=${id('other trace')}`,
        last: '[aria-label="Spans side by side"]',
      },
      { name: 'logs-nothing-found', path: `${logs}&q=id = 'none'`, last: '.empty' },
      { name: 'logs-wrong', path: `${logs}&q=scoers.x > 1`, last: '.fault-mark' },
      { name: 'logs-empty', path: `${nothing}/logs`, last: '.empty' },
    ],
    experiments: [
      { name: 'experiments', path: `${home}/experiments`, last: '.score-card' },
      {
        name: 'experiments-chosen',
        path: `${home}/experiments?chosen=${id('first')}`,
        last: '.chosen',
      },
      { name: 'experiments-empty', path: `${nothing}/experiments`, last: '.empty' },
      { name: 'experiment', path: `${home}/experiments/first`, last: 'tr[data-index="0"]' },
      {
        name: 'experiment-groups',
        path: `${home}/experiments/first?group=metadata.model`,
        last: '[aria-label="Groups by metadata.model"]',
      },
      {
        name: 'experiment-example',
        path: `${home}/experiments/first?row=first-1`,
        last: '[aria-label=Example]',
      },
      {
        name: 'comparison',
        path: `${home}/experiments/first?compare=${id('second')}`,
        last: 'tr[data-index="0"]',
      },
      {
        name: 'comparison-example',
        path: `${home}/experiments/first?compare=${id('second')}`,
        last: 'tr[data-index="0"]',
        act: (page) => page.locator('tr[data-index="0"]').click(),
      },
      { name: 'experiment-absent', path: `${home}/experiments/absent`, last: '[role=alert]' },
    ],
    datasets: [
      { name: 'datasets', path: `${home}/datasets`, last: '[aria-label=Datasets]' },
      { name: 'datasets-empty', path: `${nothing}/datasets`, last: '.empty' },
      { name: 'dataset', path: `${home}/datasets/questions`, last: 'tr[data-index="0"]' },
      {
        name: 'dataset-cell',
        path: `${home}/datasets/questions`,
        last: 'tr[data-index="0"]',
        act: both(
          (page) => page.getByTitle('Edit metadata').first().click(),
          (page) => page.getByText('Valid JSON').waitFor(),
        ),
      },
      { name: 'dataset-empty', path: `${home}/datasets/templates`, last: '.empty' },
      {
        name: 'dataset-record',
        path: `${home}/datasets/questions?row=case-000001`,
        last: '[aria-label=Record]',
      },
      {
        name: 'dataset-add',
        path: `${home}/datasets/questions?open=add`,
        last: '[aria-label=Record], [aria-label="New record"]',
      },
      {
        name: 'dataset-difference',
        path: `${home}/datasets/questions?from=${id('version')}`,
        last: '.record-difference',
      },
    ],
    review: [
      { name: 'review', path: `${home}/review`, last: 'table' },
      { name: 'review-empty', path: `${nothing}/review`, last: '.empty' },
      { name: 'review-record', path: `${home}/review/${id('open')}`, last: '[aria-label=Record]' },
      { name: 'review-done', path: `${home}/review/${id('answered')}`, last: '.review-progress' },
      {
        name: 'review-results',
        path: `${home}/review/${id('answered')}?tab=results`,
        last: '[aria-label=Answers]',
      },
    ],
    query: [
      { name: 'query', path: `${home}/query`, last: '.examples' },
      { name: 'query-table', path: query, last: '.result table' },
      { name: 'query-plot', path: `${query}&show=plot`, last: '.result-head' },
      { name: 'query-bars', path: `${query}&show=plot&x=model`, last: '.result table' },
      { name: 'query-json', path: `${query}&show=raw`, last: '.result-head' },
      { name: 'query-log', path: `${query}&show=log`, last: '.result-head' },
      {
        name: 'query-wrong',
        path: `${home}/query?q=select: x | from: nowhere(`,
        last: '[role=alert]',
      },
    ],
  }
}

const settings = (part: SettingsPartId, open?: string) =>
  `/app/default/settings?tab=${part}${open === undefined ? '' : `&open=${open}`}`

/** The parts of the settings, documentation, and what is of no project. */
export function otherPages(): readonly Shown[] {
  const docs = readdirSync(new URL('../../src/docs/', import.meta.url))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => name.replace('.md', ''))
  return [
    { name: 'sign-in', path: '/app', last: 'form', isFirst: true, isSignedOut: true },
    { name: 'projects', path: '/app', last: '[href*="/p/support"]', isFirst: true },
    { name: 'no-such-page', path: '/app/default/x', last: '.empty' },
    ...settingsPartIds.map((id) => ({
      name: `settings-${id}`,
      path: settings(id),
      last: '.settings-part',
      isFirst: true,
    })),
    ...['', ...docs, 'api'].map((name) => ({
      name: `docs-${name}`,
      path: `/docs/${name}`,
      last: 'h1',
    })),
    { name: 'docs-search', path: '/docs?q=kubernetes', last: '.found a' },
  ]
}

/** Windows over pages. */
export function windows(id: IdOf): readonly Shown[] {
  const dialog = (window: string, name: string, path: string, act?: Shown['act']): Shown => ({
    name: `window-${name}`,
    path,
    last: act ? 'main h1, main table' : 'dialog[open]',
    window,
    ...(act && { act: both(act, (page) => page.locator('dialog[open]').waitFor()) }),
  })
  const inSettings = (window: string, part: SettingsPartId, open: string) =>
    dialog(window, `${part}-${open.replace(/:.*/, '')}`, settings(part, open))
  const questions = `${home}/datasets/questions`
  const logs = `${home}/logs?live=off`
  const picked = (name: string, asked: string) =>
    dialog(
      name === 'Add to dataset'
        ? 'add-to-dataset'
        : name === 'Review'
          ? 'review-dialog'
          : 'picked-bar',
      `picked-${asked}`,
      logs,
      both(check('Select row 2'), button(name)),
    )
  return [
    dialog('project-dialogs', 'project-create', '/app?open=create'),
    dialog('project-dialogs', 'project-rename', `/app?open=rename:${id('support')}`),
    dialog('project-dialogs', 'project-delete', `/app?open=delete:${id('support')}`),
    dialog('go-to', 'go-to', `${home}/logs?live=off`, keys('Control+k')),
    dialog('key-help', 'keys', `${home}/home?open=keys`),
    dialog('view-menu', 'view-save', `${logs}&q=error is not null&open=save-view`),
    dialog('view-menu', 'view-rename', `${logs}&open=rename-view:${id('errors')}`),
    dialog('view-menu', 'view-delete', `${logs}&open=delete-view:${id('errors')}`),
    picked('Add to dataset', 'add'),
    picked('Tag', 'tag'),
    picked('Score', 'score'),
    picked('Review', 'review'),
    picked('Delete', 'delete'),
    dialog(
      'chosen-objects',
      'experiment-rename',
      `${home}/experiments?chosen=${id('first')}&open=rename`,
    ),
    dialog(
      'chosen-objects',
      'experiment-delete',
      `${home}/experiments?chosen=${id('first')}&open=delete`,
    ),
    dialog('datasets', 'dataset-new', `${home}/datasets?open=new`),
    dialog('dataset-import', 'dataset-import', `${questions}?open=import`),
    dialog('dataset-import', 'dataset-import-file', `${questions}?open=import`, async (page) => {
      await page.getByLabel('Or choose one').setInputFiles({
        name: 'records.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('question,answer,topic\nWho?,Ada,people\nWhen?,1843,dates\n'),
      })
      await page.getByLabel('What topic becomes').waitFor()
    }),
    dialog(
      'dataset-records',
      'dataset-delete',
      questions,
      both(check('Choose case-000039'), button('Delete')),
    ),
    dialog('dataset-versions', 'dataset-snapshot', `${questions}?open=snapshot`),
    dialog(
      'dataset-versions',
      'dataset-restore',
      `${questions}?version=${id('version')}&open=restore`,
    ),
    dialog('review-dialog', 'review-new', `${home}/review?open=new`),
    dialog('review-dialog', 'review-change', `${home}/review?open=change:${id('open')}`),
    dialog('review', 'review-delete', `${home}/review`, button('Delete open')),
    dialog('saved-dialog', 'query-saved', `${query}&open=saved`),
    dialog('history-dialog', 'query-history', `${query}&open=history`),
    dialog('code-dialog', 'query-code', `${query}&open=code`),
    inSettings('settings-you', 'you', 'leave'),
    inSettings('settings-keys', 'keys', 'new'),
    inSettings('removal', 'keys', `revoke:${id('key')}`),
    dialog(
      'new-secret',
      'keys-made',
      settings('keys', 'new'),
      both(
        (page) => page.getByLabel('Name').fill('new'),
        button('Create'),
        (page) => page.locator('.secret').waitFor(),
      ),
    ),
    inSettings('settings-members', 'members', 'invite'),
    inSettings('settings-members', 'members', `key:${id('member')}`),
    inSettings('settings-members', 'members', `remove:${id('member')}`),
    inSettings('settings-groups', 'groups', 'new'),
    inSettings('settings-groups', 'groups', `change:${id('group')}`),
    inSettings('removal', 'groups', `remove:${id('group')}`),
    inSettings('settings-roles', 'roles', 'new'),
    inSettings('removal', 'roles', `remove:${id('role')}`),
    inSettings('settings-grants', 'grants', 'new'),
    inSettings('removal', 'grants', `take:${id('grant')}`),
    inSettings('settings-tokens', 'tokens', 'new'),
    inSettings('removal', 'tokens', `revoke:${id('token')}`),
    inSettings('settings-secrets', 'secrets', 'variable'),
    inSettings('settings-secrets', 'secrets', `secret:${id('secret')}`),
    inSettings('removal', 'secrets', `remove-secret:${id('secret')}`),
    inSettings('settings-masking', 'masking', 'mask'),
    inSettings('settings-masking', 'masking', 'mask-anew'),
    inSettings('removal', 'masking', `remove-mask:${id('mask')}`),
    inSettings('settings-retention', 'retention', 'rule'),
    inSettings('removal', 'retention', `remove-rule:${id('retention')}`),
    inSettings('settings-exports', 'exports', 'scheduled-export'),
    inSettings('settings-exports', 'exports', `rewind-export:${id('nightly')}`),
  ]
}

/** How many windows each file of the page has, as its source says. */
export function windowsInSource(): ReadonlyMap<string, number> {
  const folder = new URL('../../src/ui/page/', import.meta.url)
  return new Map(
    readdirSync(folder).flatMap((file) => {
      const source = readFileSync(new URL(file, folder), 'utf8')
      const count = source.match(/<(Dialog|FormDialog|Confirm)\b/g)?.length ?? 0
      return count === 0 ? [] : [[file.replace(/\.tsx$/, ''), count] as const]
    }),
  )
}

/** All, in the order in which they are to be looked at beside each other. */
export function everyPage(id: IdOf): readonly Shown[] {
  const ofProject = projectPages(id)
  const ofSections = sections.flatMap((section) =>
    ofProject[section].map((shown, place) => ({ ...shown, isFirst: place === 0 })),
  )
  const all = [...otherPages(), ...ofSections]
  return [...all, ...windows(id), ...all.filter(isAnotherForReaders).map(ofReader)]
}

/** Pages where those who may change something find more than those who may only read. */
function isAnotherForReaders({ name, isSignedOut }: Shown): boolean {
  return (
    !isSignedOut &&
    !/^(docs|query-|no-such|settings-(members|groups|grants|tokens|masking|retention|exports|storage))/.test(
      name,
    ) &&
    !/^(dataset-(cell|add)|logs-(spans|live|nothing-found|wrong)|experiments-chosen)$/.test(name)
  )
}

function ofReader(shown: Shown): Shown {
  return { ...shown, name: `reader-${shown.name}`, isFirst: false, isOfReader: true }
}
