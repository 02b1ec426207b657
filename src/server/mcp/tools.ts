/**
 * What assistants can do here: look around, ask, and read. Every tool sees what the key's owner may
 * read, changes nothing, and ends at caps of rows, bytes and time. Arguments that are not known are
 * ignored, as assistants also ask as they do elsewhere.
 */
import { registerExperimentTools } from './experiment-tools.ts'
import { registerObjectTools } from './object-tools.ts'
import { registerQueryTools } from './query-tools.ts'
import { newToolServer, type ToolContext, type ToolServer } from './tool-answer.ts'

/** A server for one request: nothing is kept between two of them. */
export function toolServer(context: ToolContext): ToolServer {
  const server = newToolServer()
  registerObjectTools(server, context)
  registerQueryTools(server, context)
  registerExperimentTools(server, context)
  return server
}
