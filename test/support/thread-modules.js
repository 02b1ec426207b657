// How threads of the tests load modules. Those that the service starts run what is built of them: translating its
// TypeScript once more took half a second of processor time for a thread that writes, 1.5 s for one of queries.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const sources = new URL('../../workers/', import.meta.url).href
const built = new URL('../../dist/workers/', import.meta.url).href

export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context)
  if (!resolved.url.startsWith(sources)) return resolved
  return { ...resolved, url: resolved.url.replace(sources, built).replace(/\.ts$/, '.js') }
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const { transform } = await import('esbuild')
  const text = await readFile(fileURLToPath(url), 'utf8')
  const { code } = await transform(text, { loader: 'ts', sourcemap: 'inline', sourcefile: url })
  return { format: 'module', source: code, shortCircuit: true }
}
