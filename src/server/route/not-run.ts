/** What would run code or call models. It is answered, so that clients show why, and what to do. */
import { AssayError } from '../../error.ts'
import type { Route } from '../route.ts'

const proxy = { what: 'is no proxy to models', hint: 'set BRAINTRUST_PROXY_URL to one that is' }
const runner = {
  what: 'keeps functions but runs none',
  hint: 'set BRAINTRUST_PROXY_URL to a service that runs them',
}

const paths: readonly (readonly [path: string, answer: typeof proxy])[] = [
  ['/v1/proxy/:path', proxy],
  ['/v1/proxy/:path/:rest', proxy],
  ['/v1/proxy/:path/:rest/:end', proxy],
  ['/v1/eval', { what: 'runs no evaluations', hint: 'run them with an SDK, which logs them here' }],
  ['/function/sandbox-list', runner],
]

export const notRunRoutes: readonly Route[] = paths.map(
  ([path, { what, hint }]): Route => ({
    method: 'POST',
    path,
    access: 'key',
    handle: () => {
      throw notRun(what, hint)
    },
  }),
)

export function functionsAreNotRun(): AssayError {
  return notRun(runner.what, runner.hint)
}

function notRun(what: string, hint: string): AssayError {
  return new AssayError('REQUEST_UNSUPPORTED', `This service ${what}`, { hint })
}
