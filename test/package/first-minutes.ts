/**
 * What somebody does in the first minutes, step by step and with the seconds that each takes: from the packed file in an
 * empty folder, and from a clone. The page is a real browser's, and the lines to paste are those that it shows.
 *
 *     node --import ./test/support/typescript-loader.js test/package/first-minutes.ts
 *
 * The clone has what is committed. `src/docs/running.md` shows the tables.
 */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { PageBrowser } from '../support/browser.ts'
import { run, Started, type Surroundings } from './command.ts'
import { TimedSteps } from './timed-steps.ts'

const mostMegabytes = 150
const repository = new URL('../..', import.meta.url).pathname
const { version, devDependencies } = JSON.parse(
  readFileSync(join(repository, 'package.json'), 'utf8'),
)

/** What somebody does with the lines of each way. */
const paste = {
  TypeScript: async (lines: string, here: Surroundings) => {
    // Lines of a shell, then a program.
    const at = lines.indexOf('\n\n')
    await writeFile(join(here.folder, 'first.mjs'), lines.slice(at))
    const shell = lines.slice(0, at).replace('npm install braintrust', installed('braintrust'))
    await run(`set -e\n${shell}\nnode first.mjs`, here)
  },
  curl: async (lines: string, here: Surroundings) => {
    await run(`set -e\n${lines}`, here)
  },
  OpenTelemetry: async (lines: string, here: Surroundings) => {
    const packages = ['@opentelemetry/sdk-trace-base', '@opentelemetry/exporter-trace-otlp-proto']
    await writeFile(join(here.folder, 'instrumented.mjs'), instrumented)
    await run(`set -e\n${installed(...packages)}\n${lines}\nnode instrumented.mjs`, here)
  },
} as const
const ways = Object.keys(paste) as (keyof typeof paste)[]

/** Names of experiments, and what they answer to everything. */
const evaluations = [
  ['polite', 'Hello.'],
  ['curt', 'What?'],
] as const

/** A program that knows nothing of this service: where its spans go is in its environment. */
const instrumented = `
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
const processor = new SimpleSpanProcessor(new OTLPTraceExporter())
const tracer = new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('first')
const span = tracer.startSpan('answer')
span.setAttribute('gen_ai.prompt', 'Hello?')
span.setAttribute('gen_ai.completion', 'Hello.')
span.end()
await processor.shutdown()
`

const scratch = await mkdtemp(join(tmpdir(), 'assay-first-minutes-'))
const running: Started[] = []
try {
  const tables = [await fromPackage(), await fromClone()]
  console.log(`\n${tables.join('\n\n')}\n\nfirst minutes: passed`)
} finally {
  await stopAll().catch(() => undefined)
  await rm(scratch, { recursive: true, force: true })
}

async function fromPackage(): Promise<string> {
  const steps = new TimedSteps('from the packed file')
  const prefix = join(scratch, 'prefix')
  const folder = join(scratch, 'empty')
  await mkdir(folder)
  const here = surroundings(folder, { PATH: `${prefix}/bin:${process.env.PATH}` })
  const file = await pack()

  await steps.take(`npm install --global ${file.split('/').at(-1)}`, async () => {
    const printed = await run(`npm install --global --prefix ${prefix} ${file}`, here)
    assertNoWarning(printed)
    assert.match(printed, /added 1 package /, 'it brings other packages')
    const megabytes = await megabytesOf(prefix)
    assert.ok(megabytes < mostMegabytes, `${megabytes} MB are installed`)
    return `${megabytes} MB`
  })
  // What LMDB writes past its buffer, when a disk is full, is mended in what is packed.
  const binaries = `${prefix}/lib/node_modules/assay/dist/native/linux-*`
  await run(`! grep -rlF 'Attempting to write page at position %u, size' ${binaries}`, here)
  await tryDemo('assay demo', here, steps, async (page, url, key) => {
    for (const way of ways) {
      await makeProject(page, url, `first ${way}`)
      await steps.take(`lines for ${way} pasted, until their trace is shown`, async () => {
        await page.getByRole('tab', { name: way }).click()
        const lines = page.getByRole('tabpanel', { name: way }).locator('pre')
        const text = (await lines.textContent()) ?? ''
        assert.ok(text.includes(url), `the lines for ${way} name another service:\n${text}`)
        await paste[way](text.replace('sk-…', key), here)
        await page.getByRole('link', { name: 'Logs', exact: true }).click()
        await page.locator('tr[data-index="0"]').getByText('Hello?').waitFor()
        return undefined
      })
      if (way === 'TypeScript') await goOn(page, `first ${way}`, key, here, steps)
    }
  })
  return steps.table()
}

/** From the first trace to a comparison that somebody else sees; the client has been installed. */
async function goOn(
  page: Page,
  project: string,
  key: string,
  here: Surroundings,
  steps: TimedSteps,
): Promise<void> {
  await steps.take('the trace added to a dataset', async () => {
    await page.getByLabel('Select row 1', { exact: true }).click()
    const selection = page.getByRole('toolbar', { name: 'Selection' })
    await selection.getByRole('button', { name: 'Add to dataset' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('questions')
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Added 1 record to questions').waitFor()
    return undefined
  })
  await page.getByRole('link', { name: 'Experiments', exact: true }).click()
  await steps.take('two evaluations of it, pasted and run', async () => {
    const shown = page.locator('pre', { hasText: 'Eval(' })
    const lines = (await shown.textContent()) ?? ''
    const [, exports] = /^\/\/ (export .*)$/m.exec(lines) ?? []
    assert.ok(exports, `the lines name no service:\n${lines}`)
    for (const [name, answer] of evaluations) {
      await writeFile(join(here.folder, 'first.eval.mjs'), ofDataset(lines, project, name, answer))
      await run(`set -e\n${exports.replace('sk-…', key)}\nnode first.eval.mjs`, here)
    }
    return undefined
  })
  await steps.take('both compared, and the link opened by somebody else', async () => {
    await page.reload()
    for (const [name] of evaluations) await page.getByLabel(`Choose ${name}`).check()
    await page.getByRole('link', { name: 'Compare' }).click()
    await showsComparison(page)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await showsComparison(other)
    await other.close()
    return undefined
  })
}

/** The lines, with the examples of a dataset in place of their own. */
function ofDataset(lines: string, project: string, name: string, answer: string): string {
  const changed = lines
    .replace('import { Eval }', 'import { Eval, initDataset }')
    .replace(/^ {2}data: [\s\S]*?^ {2}task: .*$/m, () => {
      const data = `initDataset(${JSON.stringify(project)}, { dataset: 'questions' })`
      return `  experimentName: '${name}',\n  data: ${data},\n  task: () => '${answer}',`
    })
  assert.match(changed, /experimentName/, `the lines are others than were known:\n${lines}`)
  return changed
}

async function showsComparison(page: Page): Promise<void> {
  const scores = page.getByRole('table', { name: 'Scores side by side' })
  await scores.getByRole('row', { name: /exact/ }).waitFor()
  const examples = page.getByRole('table', { name: 'Examples side by side' })
  await examples.getByText('Hello?').first().waitFor()
}

/** Packs what is built. It has what a service needs and nothing else: no sources, no tests, no maps of sources. */
async function pack(): Promise<string> {
  await run(`npm pack --pack-destination ${scratch}`, surroundings(repository))
  const file = join(scratch, `assay-${version}.tgz`)
  const listed = (await run(`tar -tzf ${file}`, surroundings(scratch))).trimEnd().split('\n')
  // Without what is different from one build to the next.
  const names = listed.map((path) =>
    path.replace(/^package\//, '').replace(/(?<=^dist\/src\/(ui\/)?)[\w-]+-[A-Z0-9]{8}(?=\.)/, '*'),
  )
  const contents = readFileSync(new URL('contents.txt', import.meta.url), 'utf8')
  assert.deepEqual([...new Set(names)].sort(), contents.trimEnd().split('\n'))
  return file
}

async function fromClone(): Promise<string> {
  const steps = new TimedSteps('from a clone')
  const folder = join(scratch, 'clone')
  const here = surroundings(folder)
  await run(`git clone --quiet ${repository} ${folder}`, surroundings(scratch))
  await steps.take('npm ci', async () => {
    // What was fetched for the tests needs not be fetched again.
    assertNoWarning(await run('npm ci --prefer-offline', here))
    return `${await megabytesOf(join(folder, 'node_modules'))} MB`
  })
  await tryDemo('npm run demo --', here, steps)
  const command = 'npm start -- --port 0 --otlp-grpc-port off'
  await steps.take('npm start, when nothing has changed', async () => {
    const service = start(command, here)
    await service.find(/"url":"(http[^"]+)".*"listening"/)
    assert.doesNotMatch(service.printed, /compiling|bundling|copying/)
    return undefined
  })
  await stopAll()
  return steps.table()
}

/** Starts the demonstration, follows its link, and looks at a trace. */
async function tryDemo(
  command: string,
  here: Surroundings,
  steps: TimedSteps,
  further: (page: Page, url: string, key: string) => Promise<void> = async () => undefined,
): Promise<void> {
  let link = new URL('http://localhost')
  const demo = start(`${command} --port 0 --data-dir data`, here)
  await steps.take(`${command.replace(/ --$/, '')}, until its link is there`, async () => {
    link = new URL(await demo.find(/^Open (http\S+)$/m))
    assertNoWarning(demo.printed)
    return undefined
  })
  const browser = await PageBrowser.open({ url: link.origin })
  try {
    const { page } = await browser.page(link.pathname + link.hash, {
      isSignedIn: false,
      isKept: true,
    })
    await steps.take('signed in by the link, until a trace is shown', async () => {
      await page.getByRole('button', { name: 'Sign in' }).click()
      assert.doesNotMatch(page.url(), /sk-/)
      await page.getByRole('link', { name: 'Demo' }).first().click()
      await page.getByRole('link', { name: 'Logs', exact: true }).click()
      await page.locator('tr[data-index="0"]').click()
      await page.getByRole('treeitem').first().waitFor()
      return undefined
    })
    await further(page, link.origin, new URLSearchParams(link.hash.slice(1)).get('key')!)
  } finally {
    await browser.close()
  }
  await stopAll()
}

async function makeProject(page: Page, url: string, name: string): Promise<void> {
  await page.goto(`${url}/app`)
  await page.getByRole('button', { name: 'New project' }).click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'No logs yet' }).waitFor()
}

/** Packages in the versions that the tests have: what is newest could break this any day. */
function installed(...packages: readonly string[]): string {
  const versions = packages.map((name) => `${name}@${devDependencies[name]}`)
  return `npm install --prefer-offline --no-audit --no-fund ${versions.join(' ')}`
}

function start(command: string, here: Surroundings): Started {
  const started = new Started(command, here)
  running.push(started)
  return started
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((each) => each.stop()))
}

/** A folder, and what a new user's shell has in its environment. */
function surroundings(folder: string, more: NodeJS.ProcessEnv = {}): Surroundings {
  const isForeign = (name: string) => /^(npm_|ASSAY_|BRAINTRUST_|OTEL_|NODE_)/i.test(name)
  const own = Object.entries(process.env).filter(([name]) => !isForeign(name))
  return { folder, environment: { ...Object.fromEntries(own), ...more } }
}

function assertNoWarning(printed: string): void {
  assert.doesNotMatch(printed, /warn|deprecated|experimental/i)
}

/** As `du` counts: what it takes on disk. */
async function megabytesOf(folder: string): Promise<number> {
  return Number((await run(`du -sm ${folder}`, surroundings(scratch))).split('\t')[0])
}
