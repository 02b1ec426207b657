/**
 * Makes a small data directory by an older build, and keeps it with what that build answered:
 *
 *     node test/formats/make.mjs NAME COMMIT
 *
 * The build is run from its sources, in a work tree of its own, with the packages that are installed here. What is made lies
 * in `NAME.tar.gz` and `NAME.json`, which are never changed: they are what users have.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'

const [name, commit] = process.argv.slice(2)
const here = import.meta.dirname
const repository = join(here, '../..')
const key = 'sk-formats-0123456789'
/** Longer than a build waits before it makes a segment of what is new. */
const untilFlushedMs = 12_000

const folder = mkdtempSync(join(tmpdir(), 'assay-format-'))
const sources = join(folder, 'build')
const directory = join(folder, 'data')
const git = (...args) => execFileSync('git', ['-C', repository, ...args])

git('worktree', 'add', '--detach', sources, commit)
try {
  symlinkSync(join(repository, 'node_modules'), join(sources, 'node_modules'))
  const { child, url } = await serve()
  const ids = await write(url)
  const queries = [...queriesOf(ids)]
  const answers = []
  for (const query of queries) answers.push({ query, data: (await ask(url, query)).data })
  child.kill('SIGTERM')
  await once(child, 'exit')
  writeFileSync(
    join(here, `${name}.json`),
    `${JSON.stringify({ commit, key, answers }, null, 1)}\n`,
  )
  const left = ['--exclude=lock.*', '--sort=name', '--owner=0', '--group=0', '--mtime=@0']
  execFileSync('tar', ['-C', directory, ...left, '-czf', join(here, `${name}.tar.gz`), '.'])
} finally {
  git('worktree', 'remove', '--force', sources)
  rmSync(folder, { recursive: true })
}

async function serve() {
  const args = ['serve', '--port', '0', '--data-dir', directory, '--workers', '1']
  const command = ['--import', 'tsx', join(sources, 'src/main.ts'), ...args]
  const environment = { ...process.env, ASSAY_BOOTSTRAP_KEY: key, ASSAY_OTLP_GRPC_PORT: 'off' }
  const child = spawn(process.execPath, command, { cwd: sources, env: environment })
  child.stderr.pipe(process.stderr)
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, msg } = JSON.parse(line)
    if (url && msg === 'listening') return { child, url }
  }
  throw new Error('the build does not serve')
}

async function write(url) {
  const project = await post(url, '/v1/project', { name: 'formats' })
  const experiment = await post(url, '/v1/experiment', { project_id: project.id, name: 'e' })
  const dataset = await post(url, '/v1/dataset', { project_id: project.id, name: 'd' })
  const insert = (path, events) => post(url, `${path}/insert`, { events })
  const records = Array.from({ length: 300 }, (_, i) => record(i))
  await insert(`/v1/experiment/${experiment.id}`, records.slice(0, 200))
  await wait(untilFlushedMs)
  await insert(`/v1/experiment/${experiment.id}`, records.slice(200))
  await insert(`/v1/experiment/${experiment.id}`, [
    { id: 'r1', _is_merge: true, tags: ['merged'] },
    { id: 'r2', _object_delete: true },
    { id: 'r3', input: 'written anew' },
  ])
  await insert(`/v1/dataset/${dataset.id}`, [{ id: 'd1', input: { q: 1 }, expected: 'x' }])
  await wait(untilFlushedMs)
  // These are in no segment yet.
  await insert(`/v1/project_logs/${project.id}`, records.slice(0, 5))
  return { experiment: experiment.id, dataset: dataset.id, project: project.id }
}

function record(i) {
  return {
    id: `r${i}`,
    created: new Date(1_700_000_000_000 + i * 60_000).toISOString(),
    span_id: hex(i, 32),
    root_span_id: hex(Math.floor(i / 3), 32),
    input: { question: `What is ${i} times ${i}? `.repeat(1 + (i % 7)), list: [i, `${i}`] },
    output: i % 4 === 0 ? i * i : `It is ${i * i}, ${['sure', 'maybe', 'likely'][i % 3]}.`,
    expected: i % 10 === 0 ? null : i * i,
    scores: { exact: i % 4 === 0 ? 1 : 0, close: (i % 100) / 100 },
    metrics: { tokens: 10 + (i % 50), start: 1_700_000_000 + i, end: 1_700_000_001.5 + i },
    metadata: {
      model: `m${i % 3}`,
      user: hex(i * 7, 16),
      deep: { a: { b: i } },
      mixed: i % 2 ? i : `${i}`,
    },
    tags: i % 5 === 0 ? ['fifth', `t${i % 2}`] : [],
    ...(i === 7 && { output: { exact: '12345678901234567890', 'ä b': [null, true, { c: 1e-7 }] } }),
  }
}

function hex(number, length) {
  return (number * 2_654_435_761 + 12_345).toString(16).padStart(length, '0')
}

function* queriesOf({ experiment, dataset, project }) {
  const from = `from: experiment('${experiment}')`
  yield `dimensions: metadata.model as model | measures: count(1) as n, avg(scores.close) as close, sum(metrics.tokens) as tokens | ${from} | sort: model`
  yield `select: id, input, output, expected, scores, metrics, metadata, tags, span_id, root_span_id, created | ${from} | sort: id | limit: 25`
  yield `select: id | ${from} | filter: input.question ILIKE '%17 times%' or metadata.user = '${hex(70, 16)}' | sort: id`
  yield `select: id, metadata.mixed as mixed | ${from} | filter: metadata.mixed = 51 or metadata.mixed = '52' or metadata.deep.a.b = 100 | sort: id`
  yield `select: id | ${from} | filter: span_id = '${hex(33, 32)}'`
  yield `select: id, tags, input | ${from} | filter: id = 'r1' or id = 'r2' or id = 'r3' | sort: id`
  yield `select: id, input, expected | from: dataset('${dataset}')`
  yield `measures: count(1) as n, max(created) as newest | from: project_logs('${project}')`
  yield `select: id, output | from: project_logs('${project}') | sort: id`
}

async function ask(url, query) {
  return post(url, '/btql', { query })
}

async function post(url, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} ${body.query ?? ''}: ${text}`)
  return JSON.parse(text)
}
