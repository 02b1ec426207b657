/** What would run code or call models. It is answered, so that clients show why, and what to do. */
import { AssayError } from '../../error.ts'
import type { Route } from '../route.ts'

const proxy = { what: 'is no proxy to models', hint: 'set BRAINTRUST_PROXY_URL to one that is' }
const runner = {
  what: 'keeps functions but runs none',
  hint: 'set BRAINTRUST_PROXY_URL to a service that runs them',
}

const topics = {
  what: 'keeps automations but runs none, so that there is nothing to tell of their runs',
  hint: 'their settings are at /v1/project_automation',
}
const loop = {
  what: 'runs no assistant',
  hint: 'connect one of your own to /mcp',
}

const paths: readonly (readonly [path: string, answer: typeof proxy])[] = [
  ['/v1/proxy/:path', proxy],
  ['/v1/proxy/:path/:rest', proxy],
  ['/v1/proxy/:path/:rest/:end', proxy],
  ['/v1/eval', { what: 'runs no evaluations', hint: 'run them with an SDK, which logs them here' }],
  ['/function/sandbox-list', runner],
  ['/brainstore/automation/:action', topics],
  ['/topic-map-report-url', topics],
  ['/topic-map-btmap-url', topics],
  ['/loop/runtime/:path', loop],
  ['/loop/runtime/:path/:rest', loop],
  ['/loop/runtime/:path/:rest/:end', loop],
]

/** Whoever only looks at what runs elsewhere asks with GET. */
const methods = (path: string) => (path.startsWith('/loop/') ? loopMethods : (['POST'] as const))
const loopMethods = ['GET', 'POST', 'PATCH', 'DELETE'] as const

export const notRunRoutes: readonly Route[] = paths.flatMap(([path, { what, hint }]) =>
  methods(path).map(
    (method): Route => ({
      method,
      path,
      access: 'key',
      handle: () => {
        throw notRun(what, hint)
      },
    }),
  ),
)

export function functionsAreNotRun(): AssayError {
  return notRun(runner.what, runner.hint)
}

function notRun(what: string, hint: string): AssayError {
  return new AssayError('REQUEST_UNSUPPORTED', `This service ${what}`, { hint })
}
