import { mkdirSync, writeFileSync } from 'node:fs'
import { describeMachine } from '../../machine.ts'

/** Writes a report to bench/results, and a picture beside it. */
export function saveReport(name: string, report: object, picture?: string): void {
  const directory = new URL('../../results/', import.meta.url)
  mkdirSync(directory, { recursive: true })
  const text = JSON.stringify({ machine: describeMachine(), ...report }, null, 2)
  writeFileSync(new URL(`${name}.json`, directory), `${text}\n`)
  if (picture !== undefined) writeFileSync(new URL(`${name}.svg`, directory), picture)
}
