/** How the home is, as far as is known here. */
export interface HomeStatus {
  readonly url: string
  readonly isConnected: boolean
  /** Since it was heard last. */
  readonly ageMs: number
  /** Whether all that it has told of is here. */
  readonly isCaughtUp: boolean
  readonly fault: string | undefined
}
