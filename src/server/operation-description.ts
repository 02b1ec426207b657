import type { z } from 'zod'

/** What the API document tells of a route. */
export interface OperationDescription {
  readonly tag: string
  readonly summary: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly isBodyOptional?: boolean
  /** Whether it answers 501: it is known, and not done here. */
  readonly isNotDone?: boolean
  /** Of a 200; without one the answer is text. */
  readonly answer: z.ZodType | undefined
  readonly isDeprecated?: boolean
}
