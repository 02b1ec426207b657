import { mkdirSync, writeFileSync } from 'node:fs'
import { describeMachine } from '../../machine.ts'

/** Writes a report to bench/results, and pictures beside it, by what is added to the name. */
export function saveReport(
  name: string,
  report: object,
  pictures: Readonly<Record<string, string>> = {},
): void {
  const directory = new URL('../../results/', import.meta.url)
  mkdirSync(directory, { recursive: true })
  const text = JSON.stringify({ machine: describeMachine(), ...report }, null, 2)
  writeFileSync(new URL(`${name}.json`, directory), `${text}\n`)
  for (const [added, picture] of Object.entries(pictures)) {
    writeFileSync(new URL(`${name}-${added}.svg`, directory), picture)
  }
}
