/** Row versions of one object that a damaged segment had, by the keys that the row store has them under. */
export interface LostRows {
  readonly object: number
  /** In the order of keys, in shared memory. */
  readonly transactions: Float64Array
  readonly indexes: Int32Array
}
