import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { requireFewValues } from '../json-body.ts'
import type { ToolContext } from '../mcp/tool-answer.ts'
import { toolServer } from '../mcp/tools.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import type { Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'

/**
 * `POST /mcp`: the Model Context Protocol over HTTP. Each request is answered by itself, as JSON, so
 * there are no sessions to keep and no streams to hold open: other methods are not taken.
 */
export function mcpRoutes(engine: Engine, publicUrl: PublicUrl): Route[] {
  return [
    {
      method: 'POST',
      path: '/mcp',
      access: 'key',
      headers: ['mcp-protocol-version', ...addressHeaders],
      handle: (request, gate) =>
        handle({ engine, gate, signal: request.signal, url: publicUrl(request.headers) }, request),
    },
  ]
}

async function handle(context: ToolContext, request: RouteRequest): Promise<Reply> {
  const body = await request.body
  requireFewValues(body)
  const server = toolServer(context)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  try {
    await server.connect(transport)
    const response = await transport.handleRequest(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          // Both are JSON here, whatever a client says.
          ...versionHeader(request.headers),
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

function versionHeader(headers: ReadonlyMap<string, string>): Record<string, string> {
  const version = headers.get('mcp-protocol-version')
  return version === undefined ? {} : { 'mcp-protocol-version': version }
}
