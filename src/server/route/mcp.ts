import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { Gate } from '../../access/gate.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { toolServer } from '../mcp/tools.ts'
import type { Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'

/**
 * `POST /mcp`: the Model Context Protocol over HTTP. Each request is answered by itself, as JSON, so
 * there are no sessions to keep and no streams to hold open: other methods are not taken.
 */
export function mcpRoutes(engine: Engine): Route[] {
  return [
    {
      method: 'POST',
      path: '/mcp',
      access: 'key',
      headers: ['mcp-protocol-version'],
      handle: (request, gate) => handle(engine, request, gate),
    },
  ]
}

async function handle(engine: Engine, request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await request.body
  const server = toolServer(engine, gate, request.signal)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  try {
    await server.connect(transport)
    const response = await transport.handleRequest(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          // Both are JSON here, whatever a client says.
          ...Object.fromEntries(request.headers),
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: Buffer.from(body),
        signal: request.signal,
      }),
    )
    const text = await response.text()
    if (response.status >= 500) throw new AssayError('INTERNAL', text)
    return {
      status: response.status,
      contentType: response.headers.get('content-type') ?? 'application/json',
      body: text,
    }
  } finally {
    await server.close()
  }
}
