/** What has a name in a statement, so that it is written once. */

/** SQL in which values of a row have names. Where it is all the same, nodes compute it once, too. */
export function named(values: Readonly<Record<string, string>>, sql: string): string {
  const lists = Object.values(values).map((value) => `[${value}]`)
  return `arrayMap((${Object.keys(values).join(', ')}) -> ${sql}, ${lists.join(', ')})[1]`
}
