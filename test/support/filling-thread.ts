/** A thread that keeps as many numbers, each in memory of V8 by itself, as it is told. */
const kept: object[] = []

export default function fill(count: number): number {
  for (let i = 0; i < count; i++) kept.push({ i })
  return kept.length
}
