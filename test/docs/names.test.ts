/** What the pages of the repository name is there: links, paths, scripts, commands with their flags, variables, codes. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { type MarkdownPage, markdownPages } from '../support/markdown.ts'
import { repositoryFiles } from '../support/repository-files.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { scripts, version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const program = createProgram()
const pages = markdownPages.map((page) => [page.path, page] as const)

/** Files that users have, or that a build, an installation or a service makes. */
const madeElsewhere =
  /^(\.\/)?(dist|data|node_modules|segments|attachments|async|bench\/results|\.deploy\/secrets)\b|^first\.eval\.mjs$|^assay\//

/** All that is written in files of code, to look names up in. */
const code = repositoryFiles
  .filter((path) => /\.(tsx?|m?js|yaml|service|json|tpl|c)$|^\.ci\/|Dockerfile$/.test(path))
  .filter((path) => !path.startsWith('test/docs/'))
  .map((path) => readFileSync(root + path, 'utf8'))
  .join('\n')

describe.each(pages)('%s', (_, page) => {
  test('links to what there is', () => {
    expect(page.links.filter((link) => !leadsSomewhere(page, link))).toEqual([])
  })

  test('names paths that are there', () => {
    const named = [...page.spans, ...page.blocks.flatMap(({ text }) => text.split(/[\s'"(),]+/))]
    const missing = named.filter((name) => isPath(name) && !existsSomewhere(page, name))
    expect([...new Set(missing)]).toEqual([])
  })

  test('names the version that there is', () => {
    const named = Array.from(page.text.matchAll(/assay-(\d+\.\d+\.\d+)\.tgz/g), ([, name]) => name)
    expect(named.filter((name) => name !== version)).toEqual([])
  })

  test('names scripts of npm that are there', () => {
    const written = [...page.spans, ...page.blocks.map(({ text }) => text)].join('\n')
    const named = Array.from(written.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g), ([, name]) => name!)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })

  test('names commands and flags that are there', () => {
    const lines = [...page.spans, ...page.blocks.flatMap(({ text }) => joinedLines(text))]
    // Those of benchmarks tell of flags of Node, too.
    const own = page.path.startsWith('bench/') ? lines.filter((line) => !/^--/.test(line)) : lines
    expect(own.flatMap(commandFaults)).toEqual([])
  })

  test('names variables, codes and metrics that are there', () => {
    const named = page.spans.flatMap((span) =>
      Array.from(span.matchAll(/\b(?:ASSAY_[A-Z_]+[A-Z]|assay_[a-z_]+[a-z])\b/g), ([name]) => name),
    )
    expect(named.filter((name) => !isWritten(name))).toEqual([])
  })
})

test('the page of a folder is read in one go: it has at most 150 lines', () => {
  const long = markdownPages.filter(({ path, text }) => {
    return /^src\/.+\/README\.md$/.test(path) && text.split('\n').length > 151
  })
  expect(long.map(({ path }) => path)).toEqual([])
})

test('the pages name every command and every setting of the service', () => {
  const texts = markdownPages.filter(({ path }) => path.startsWith('src/docs/'))
  const all = texts.flatMap(({ spans }) => spans).join('\n')
  const serve = program.commands.find((command) => command.name() === 'serve')!
  const names = [
    ...program.commands.map((command) => command.name()),
    ...flagsOf(serve),
    ...serve.options.flatMap(({ description }) => /ASSAY_[A-Z_]+/.exec(description) ?? []),
  ]
  // Those of a provider are made of their flags' names, as the page says.
  const missing = names.filter((name) => !all.includes(name) && !name.startsWith('ASSAY_OIDC_'))
  expect(missing).toEqual([])
})

test('the check sees what is not there', () => {
  const [page] = markdownPages
  expect(leadsSomewhere(page!, 'nothing.md')).toBe(false)
  expect(leadsSomewhere(page!, '#nothing-at-all')).toBe(false)
  expect(existsSomewhere(page!, 'src/nothing.ts')).toBe(false)
  expect(existsSomewhere(page!, 'test/golden/**/*.slt')).toBe(true)
  expect(commandFaults('assay serve --nothing')).toEqual([
    'assay serve --nothing: no flag --nothing',
  ])
  expect(commandFaults('assay nothing')).toEqual(['assay nothing: no command nothing'])
  expect(commandFaults('--nothing-at-all')).toHaveLength(1)
  expect(commandFaults('assay keys create laptop --user ada@example.com')).toEqual([])
})

function leadsSomewhere(page: MarkdownPage, link: string): boolean {
  if (/^https?:/.test(link)) return true
  const [path, anchor] = link.split('#')
  const target = path === '' ? page.path : page.resolve(path!)
  const isThere =
    repositoryFiles.includes(target) ||
    repositoryFiles.some((file) => file.startsWith(`${target}/`))
  if (anchor === undefined || !isThere) return isThere
  return markdownPages.find((each) => each.path === target)?.anchors.has(anchor) ?? false
}

/** A file of code or of a page, or anything in a folder of the repository; patterns of them, too. */
function isPath(name: string): boolean {
  if (/[<>$…{}|:=]/.test(name) || madeElsewhere.test(name)) return false
  const isInFolder = /^(\.\.\/)*(src|test|bench|workers|\.deploy|\.ci)\/[\w.*/-]+$/.test(name)
  return isInFolder || /^[\w.*/-]+\.(tsx?|mjs|md|wasm|slt)$/.test(name)
}

/** From the top of the repository, from the page's folder, or as the end of some path: `scheduler/queries.ts`. */
function existsSomewhere(page: MarkdownPage, name: string): boolean {
  const path = name.replace(/\/$/, '').replace(/^\.\//, '')
  const ways = path.startsWith('../') ? [page.resolve(path)] : [path, page.resolve(path)]
  const isEnd = !path.startsWith('../')
  const patterns = ways.map((way) => new RegExp(`^${patternOf(way)}(/|$)`))
  if (isEnd) patterns.push(new RegExp(`(^|/)${patternOf(path)}$`))
  return repositoryFiles.some((file) => patterns.some((pattern) => pattern.test(file)))
}

function patternOf(path: string): string {
  return path
    .replace(/[.+?^$()[\]\\]/g, '\\$&')
    .replaceAll('**/', '(?:.*/)?')
    .replaceAll('*', '[^/]*')
}

/** Lines of a shell, put together where a backslash ends them, without comments. */
function joinedLines(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .replaceAll(/ #.*$/gm, '')
    .split(/\n|&&|\|/)
}

const ownFlags = flagsBelow(program)
/** Of other programs, and of scripts of this repository, which their own pages describe. */
const otherFlags = new Set(['--sparse', '--only', '--update', '--all', '--help', '--version'])

function commandFaults(line: string): string[] {
  const words = line.trim().split(/\s+/)
  const at = words.indexOf('assay')
  if (at < 0) {
    // A flag by itself: of some command.
    const flag = /^--[a-z][\w-]+/.exec(line)?.[0]
    const isKnown =
      flag === undefined || ownFlags.has(flag) || otherFlags.has(flag) || code.includes(flag)
    return isKnown ? [] : [`${line}: no command has the flag ${flag}`]
  }
  // The name of a package, a unit or a container, too.
  if (words.slice(0, at).some((word) => !/^[\w]+=\S+$/.test(word))) return []
  return faultsOf(line, program, words.slice(at + 1))
}

function faultsOf(line: string, command: Command, words: readonly string[]): string[] {
  const [word, ...rest] = words
  const isName = word !== undefined && /^[a-z]+$/.test(word)
  if (command.commands.length > 0 && isName) {
    const below = command.commands.find((each) => each.name() === word)
    return below ? faultsOf(line, below, rest) : [`${line}: no command ${word}`]
  }
  const flags = command.commands.length > 0 ? flagsBelow(command) : flagsOf(command)
  const given = words.filter((each) => /^--[a-z]/.test(each)).map((each) => each.split('=')[0]!)
  const unknown = given.filter((flag) => !flags.has(flag) && flag !== '--help')
  return unknown.map((flag) => `${line}: no flag ${flag}`)
}

function flagsOf(command: Command): Set<string> {
  return new Set(command.options.flatMap(({ long }) => (long ? [long] : [])))
}

function flagsBelow(command: Command): Set<string> {
  return new Set([
    ...flagsOf(command),
    ...command.commands.flatMap((each) => [...flagsBelow(each)]),
  ])
}

/** `ASSAY_…_FILE` is read by one piece of code for several variables. */
function isWritten(name: string): boolean {
  return code.includes(name) || code.includes(name.replace(/_(FILE|total|bucket|sum|count)$/, ''))
}
