import type { RunningService } from '../../support/running-service.ts'
import type { CommandLine } from './command-line.ts'

/** What the tests of one version have in common. It is there once they run. */
export interface Session {
  readonly service: RunningService
  readonly bt: CommandLine
  /** Id of the project `app`. */
  readonly project: string
}

export interface Suite {
  /** Commands and options that 0.12 has not are left out of its tests. */
  readonly isNew: boolean
  session(): Session
}
