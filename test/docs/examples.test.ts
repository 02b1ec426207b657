/**
 * Runs the examples of README.md and of the pages in `src/docs` as somebody does who pastes them.
 *
 * ` ```sh serve ` starts the service, in a folder of its own. ` ```sh run ` blocks of a page run in one shell, one after the
 * other. A ` ```json answer ` has members of the JSON that the block before it prints, or of its last line. ` ```js run ` is
 * a program that prints something.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { run, Started, type Surroundings } from '../package/command.ts'
import { type CodeBlock, type MarkdownPage, markdownPages } from '../support/markdown.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = markdownPages.filter(({ path }) => path === 'README.md' || /^src\/docs\//.test(path))
const between = '--- the next example ---'

/** Blocks of a shell that are not run here, by page, and what runs them. */
const runElsewhere: ReadonlyMap<string, string> = new Map([
  ['README.md', 'test/package/first-minutes.ts'],
  ['src/docs/running.md', 'test/package/first-minutes.ts'],
  ['src/docs/clients.md', 'test/clients/quick-start.test.ts'],
  ['src/docs/rights.md', 'test/cli/admin.test.ts'],
  ['src/docs/deploy.md', 'test/deploy'],
  ['src/docs/promises.md', 'whoever has some hours'],
])

describe('the examples of', () => {
  const running = pages.filter(({ blocks }) => blocks.some(({ mark }) => mark === 'run'))

  test('pages are found', () => {
    expect(running.length).toBeGreaterThan(4)
  })

  test.each(running.map((page) => [page.path, page] as const))('%s', async (_, page) => {
    await using place = new Place(page)
    await place.serve()
    const shell = page.blocks.filter(({ language, mark }) => language === 'sh' && mark === 'run')
    const printed = await place.runAll(shell)
    for (const [index, block] of shell.entries()) {
      const next = page.blocks[page.blocks.indexOf(block) + 1]
      if (next?.mark !== 'answer') continue
      const answer = answerIn(printed[index]!)
      expect(answer, `line ${block.line}`).toMatchObject(JSON.parse(next.text))
    }
    for (const { language, mark, text } of page.blocks) {
      if (language === 'js' && mark === 'run') expect(await place.firstLineOf(text)).not.toBe('')
    }
  })
})

describe('what stands in blocks of', () => {
  test.each(pages.map((page) => [page.path, page] as const))('%s is marked', (path, { blocks }) => {
    const unknown = blocks.filter(({ language, mark }) => {
      if (language === 'sh') return mark === '' && !runElsewhere.has(path)
      return !['btql', 'sql', 'json', 'js', 'text', 'ebnf'].includes(language)
    })
    expect(unknown.map(({ line, text }) => `line ${line}: ${text}`)).toEqual([])
    for (const { language, text } of blocks) if (language === 'json') JSON.parse(text)
  })
})

/** The JSON at the end of what was printed. Throws with all of it where there is none. */
function answerIn(printed: string): unknown {
  const lines = printed.trim().split('\n')
  for (const from of lines.keys()) {
    try {
      return JSON.parse(lines.slice(from).join('\n'))
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown
    }
  }
  throw new Error(`no JSON at the end of:\n${printed}`)
}

/** A folder in which `assay` is a command, and the service that the page says to start. */
class Place {
  readonly #folder = mkdtempSync(join(tmpdir(), 'assay-examples-'))
  readonly #page: MarkdownPage
  readonly #here: Surroundings
  #service: Started | undefined
  #url = ''

  constructor(page: MarkdownPage) {
    this.#page = page
    const commands = join(this.#folder, 'bin')
    mkdirSync(commands)
    const program = `#!/bin/sh\nexec '${process.execPath}' '${root}dist/src/main.js' "$@"\n`
    writeFileSync(join(commands, 'assay'), program, { mode: 0o755 })
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'))
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_'))
    this.#here = {
      folder: this.#folder,
      environment: {
        ...Object.fromEntries(own),
        PATH: `${commands}:${process.env.PATH}`,
        ASSAY_DATA_DIR: join(this.#folder, 'data'),
        ASSAY_PORT: '0',
        ASSAY_OTLP_GRPC_PORT: 'off',
        ASSAY_WORKERS: '0',
        ASSAY_WARM_UP: '0',
      },
    }
  }

  async serve(): Promise<void> {
    const block = this.#page.blocks.find(({ mark }) => mark === 'serve')
    expect(block, `${this.#page.path} starts a service`).toBeDefined()
    this.#service = new Started(block!.text, this.#here)
    this.#url = await this.#service.find(/"url":"(http[^"]+)".*"listening"/)
  }

  /** What each prints. */
  async runAll(blocks: readonly CodeBlock[]): Promise<string[]> {
    const text = blocks.map(({ text }) => this.#atUrl(text)).join(`\necho; echo '${between}'\n`)
    return (await run(`set -euo pipefail\n${text}`, this.#withUrl())).split(between)
  }

  async firstLineOf(program: string): Promise<string> {
    const file = join(this.#folder, 'example.mjs')
    writeFileSync(file, this.#atUrl(program))
    const [, key = ''] = /BOOTSTRAP_KEY=(\S+)/.exec(this.#page.text) ?? []
    const started = new Started(`ASSAY_API_KEY=${key} node ${file}`, this.#withUrl())
    try {
      return await started.find(/^(.+)$/m)
    } finally {
      await started.stop().catch(() => undefined)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service?.stop()
    rmSync(this.#folder, { recursive: true })
  }

  #withUrl(): Surroundings {
    return { ...this.#here, environment: { ...this.#here.environment, ASSAY_URL: this.#url } }
  }

  /** A text with the address of this service in place of the usual one. */
  #atUrl(text: string): string {
    return text.replaceAll('127.0.0.1:8000', new URL(this.#url).host)
  }
}
