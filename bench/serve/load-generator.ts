/** Runs wrk, the load generator that takes the least of the two cores. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LoadOptions {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Requests take these bodies in turn, each connection from another one on. */
  readonly bodies: readonly string[]
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Connections that failed, requests without an answer in two seconds, and statuses but 200. */
  readonly errors: number
}

/** The bodies are in a file of lines: of a hundred thousand, a script would be too long for Lua. */
export async function runLoad(options: LoadOptions, directory: string): Promise<LoadResult> {
  const { url, path, headers, bodies, connections, seconds } = options
  const lines = join(directory, 'bodies.txt')
  const script = join(directory, 'load.lua')
  writeFileSync(lines, `${bodies.join('\n')}\n`)
  writeFileSync(script, scriptOf(path, headers, lines))
  const args = ['--threads', '1', '--connections', String(connections)]
  const output = await outputOf('wrk', [
    ...args,
    '--duration',
    `${seconds}s`,
    '--timeout',
    '30s',
    '--script',
    script,
    url,
  ])
  const last = output.trim().split('\n').at(-1) ?? ''
  return JSON.parse(last) as LoadResult
}

function scriptOf(path: string, headers: Readonly<Record<string, string>>, lines: string): string {
  const given = Object.entries(headers).map(([name, value]) => `["${name}"] = "${value}"`)
  return `
local bodies = {}
for line in io.lines(${JSON.stringify(lines)}) do bodies[#bodies + 1] = line end
local headers = { ${given.join(', ')} }
math.randomseed(os.time())
request = function()
  return wrk.format("POST", ${JSON.stringify(path)}, headers, bodies[math.random(#bodies)])
end
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requestsPerSecond":%.1f,"p50Ms":%.3f,"p99Ms":%.3f,"maxMs":%.3f,"errors":%d}\\n',
    summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    e.connect + e.read + e.write + e.timeout + e.status))
end
`
}

function outputOf(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (data: Buffer) => {
      output += data
    })
    child.on('error', () => {
      reject(new Error('wrk is not installed: apt-get install wrk, or brew install wrk'))
    })
    child.on('close', (code) => {
      if (code === 0) resolve(output)
      else reject(new Error(`wrk ended with ${code}: ${output}`))
    })
  })
}
