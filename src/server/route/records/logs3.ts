/**
 * `/logs3`: rows of any object. A body that is too large for the client's limit is uploaded first, to a
 * URL that `/logs3/overflow` gives, and then named by its key.
 */
import { randomUUID } from 'node:crypto'
import type { Gate } from '../../../access/gate.ts'
import type { Attachments } from '../../../attachment/attachments.ts'
import { contentName } from '../../../attachment/content-store.ts'
import type { Engine } from '../../../engine.ts'
import { AssayError } from '../../../error.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { numberField, objectField, parseJsonBody, stringField } from '../../json-body.ts'
import { addressHeaders, type PublicUrl } from '../../public-url.ts'
import { type RecordInserter, writtenBy } from '../../record-inserter.ts'
import { jsonReply } from '../../reply.ts'
import type { Route } from '../../route.ts'

export interface Logs3Options {
  readonly engine: Engine
  readonly writer: RecordInserter
  readonly attachments: Attachments
  readonly publicUrl: PublicUrl
  readonly maxBodyBytes: number
}

/** A body that names an upload is no larger. */
const referenceBytes = 4096

export function logs3Routes(options: Logs3Options): Route[] {
  const { writer, attachments, publicUrl, maxBodyBytes } = options
  return [
    {
      method: 'POST',
      path: '/logs3',
      access: 'key',
      bodySize: 'records',
      isInsert: true,
      handle: async (request, gate) => {
        const body = await request.body
        const name = uploadedName(body, gate)
        const rows = name === undefined ? body : await uploaded(attachments, name)
        const written = await writer.insert({ body: rows, form: 'logs3', ...writtenBy(gate) })
        if (name !== undefined) await attachments.store.remove(name)
        return jsonReply({ ids: written.ids, xact_id: written.transactionId })
      },
    },
    {
      // Clients before 0.0.194 come here with a bare list when `/logs3` has failed.
      method: 'POST',
      path: '/logs',
      access: 'key',
      bodySize: 'records',
      isInsert: true,
      handle: async (request, gate) => {
        const body = await request.body
        return jsonReply((await writer.insert({ body, form: 'logs3', ...writtenBy(gate) })).ids)
      },
    },
    {
      method: 'POST',
      path: '/logs3/overflow',
      access: 'key',
      headers: addressHeaders,
      handle: async (request, gate) => {
        const size = numberField(await readJsonBody(request), 'size_bytes') ?? 0
        if (size > maxBodyBytes) {
          throw new AssayError('REQUEST_TOO_LARGE', `a body has at most ${maxBodyBytes} bytes`, {
            path: 'size_bytes',
          })
        }
        const key = randomUUID()
        const place = placeOf(key, gate)
        const contentType = 'application/json'
        await attachments.store.announce(place, { filename: 'rows.json', contentType })
        const path = attachments.signer.sign('put', contentName(place), gate.principal)
        return jsonReply({
          method: 'PUT',
          signedUrl: publicUrl(request.headers) + path,
          headers: { 'content-type': contentType },
          key,
        })
      },
    },
  ]
}

/** The stored name of the upload that a body has in place of rows, if that is what it has. */
function uploadedName(body: Uint8Array, gate: Gate): string | undefined {
  if (body.length > referenceBytes || !Buffer.from(body).includes('logs3_overflow'))
    return undefined
  let reference: Readonly<Record<string, unknown>> | undefined
  try {
    reference = objectField(parseJsonBody(body), 'rows')
  } catch {
    // Rows that happen to contain the word.
    return undefined
  }
  if (reference?.type !== 'logs3_overflow') return undefined
  const key = stringField(new Map(Object.entries(reference)), 'key')
  if (key === undefined) {
    throw new AssayError('REQUEST_INVALID', 'rows.key is missing', { path: 'rows.key' })
  }
  return contentName(placeOf(key, gate))
}

async function uploaded(attachments: Attachments, name: string): Promise<Uint8Array> {
  const bytes = await attachments.store.read(name)
  if (bytes) return bytes
  throw new AssayError('REQUEST_INVALID', 'no rows were uploaded under rows.key', {
    path: 'rows.key',
    hint: 'ask /logs3/overflow for a URL, upload the rows to it, then name its key once',
  })
}

function placeOf(key: string, gate: Gate) {
  return { organizationId: gate.principal.organizationId, kind: 'overflow', key } as const
}
