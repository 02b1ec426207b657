/** How one can sign in here, as the operator has said. */
import { requestJson } from './client.ts'

export interface Ways {
  readonly password: boolean
  readonly key: boolean
  readonly provider: {
    /** What its button says. */
    readonly label: string
    /** Why it cannot be used now. */
    readonly fault: string | null
  } | null
}

export function findWays(): Promise<Ways> {
  return requestJson<Ways>('/session/ways')
}
