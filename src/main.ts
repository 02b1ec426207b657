#!/usr/bin/env node
import { CommanderError } from 'commander'
import { createProgram } from './cli/program.ts'
import { AssayError } from './error.ts'

// A reader that has seen enough, as `head`, closes the pipe; that is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

try {
  await createProgram().parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** Says what went wrong and returns the exit code for it: 2 for the command line, otherwise 1. */
function report(error: unknown): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (!(error instanceof AssayError) || error.family === 'internal') {
    console.error(error)
    return 1
  }
  const hint = error.hint === undefined ? '' : `\n${error.hint}`
  process.stderr.write(`assay: ${error.message}${hint}\n`)
  return error.code === 'COMMAND_INVALID' || error.code === 'CONFIG_INVALID' ? 2 : 1
}
