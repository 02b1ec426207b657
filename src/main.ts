#!/usr/bin/env node
import { CommanderError } from 'commander'
import { createProgram } from './cli/program.ts'
import { AssayError } from './error.ts'
import { fileFault } from './storage/directory/file-fault.ts'

// A reader that has seen enough, as `head`, closes the pipe; that is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

// To the first process of a container the kernel gives no signal that it does not listen for. A service listens itself
// once it is loaded.
if (process.pid === 1) {
  process.once('SIGTERM', () => process.exit(143))
  process.once('SIGINT', () => process.exit(130))
}

try {
  await createProgram().parseAsync()
} catch (error) {
  // What has begun of a service that could not start, as its threads, would keep the process.
  process.exit(report(error))
}

/** Says what went wrong and returns the exit code for it: 2 for the command line, otherwise 1. */
function report(error: unknown): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (!(error instanceof AssayError) || error.family === 'internal') {
    const fault = fileFault(error, 'assay cannot go on')
    if (fault) return report(fault)
    console.error(error)
    return 1
  }
  const hint = error.hint === undefined ? '' : `\n${error.hint}`
  process.stderr.write(`assay: ${error.message}${hint}\n`)
  return error.code === 'COMMAND_INVALID' || error.code === 'CONFIG_INVALID' ? 2 : 1
}
