/**
 * Answers of queries as files that a browser downloads by itself: it can open an address, and send its
 * cookie there, but no body. So the query is left here first, under a name that it is fetched by.
 */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Gate } from '../../access/gate.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { formatNames, type OutputFormat } from '../../format/output-format.ts'
import { queryReply } from '../query-answer.ts'
import { queryBodyOf, readQueryBody } from '../query-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route } from '../route.ts'

/** Long enough for a browser to ask where to save a file. */
const keptMs = 5 * 60_000

/** Of all queries that are left here; the oldest go. */
const keptBytes = 16 * 2 ** 20

interface KeptQuery {
  /** As `POST /btql` takes it. */
  readonly body: Uint8Array
  readonly owner: string
}

/**
 * `POST /btql/export` takes what `/btql` takes, refuses what has faults and answers `{"path"}`, from
 * which `GET` streams the answer as a file, with the rights that the caller has then.
 */
export function exportRoutes(engine: Engine): Route[] {
  const kept = new LRUCache<string, KeptQuery>({
    ttl: keptMs,
    maxSize: keptBytes,
    sizeCalculation: ({ body }) => body.length + 200,
  })
  return [
    {
      method: 'POST',
      path: '/btql/export',
      access: 'key',
      handle: async (request, gate) => {
        const { request: query } = await readQueryBody(request, gate)
        await engine.explain(query)
        const name = randomBytes(24).toString('base64url')
        kept.set(name, { body: Uint8Array.from(await request.body), owner: ownerOf(gate) })
        return jsonReply({ path: `/btql/export/${name}` })
      },
    },
    {
      method: 'GET',
      path: '/btql/export/:name',
      access: 'key',
      handle: async (request, gate) => {
        const found = kept.get(request.parameters[0]!)
        if (found?.owner !== ownerOf(gate)) {
          throw new AssayError('ROUTE_NOT_FOUND', 'There is no such export of yours', {
            hint: 'exports are kept for five minutes: ask for it again',
          })
        }
        const body = queryBodyOf(request, found.body, gate)
        return asFile(await queryReply(engine.query(body.request), body), body.format)
      },
    },
  ]
}

/** Whoever is asked for twice is the same, whatever key or session they have. */
function ownerOf({ principal: { organizationId, userId } }: Gate): string {
  return `${organizationId} ${userId}`
}

/** Formats that browsers would show are saved, too. */
function asFile(reply: Reply, format: OutputFormat): Reply {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const disposition = `attachment; filename="assay-${time}.${formatNames[format].ending}"`
  const headers = { 'content-disposition': disposition, 'cache-control': 'no-store' }
  return { ...reply, headers: { ...reply.headers, ...headers } }
}
