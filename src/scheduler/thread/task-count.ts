/** One number that threads share: how many tasks of queries run. */
export function newTaskCount(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4))
}
