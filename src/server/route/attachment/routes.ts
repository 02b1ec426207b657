/** Uploads and downloads: a client announces a file, sends it to a signed URL, and asks for another. */

import type { Access } from '../../../access/access.ts'
import type { Gate } from '../../../access/gate.ts'
import type { Principal } from '../../../access/principal.ts'
import type { Attachments } from '../../../attachment/attachments.ts'
import { type ContentPlace, contentName } from '../../../attachment/content-store.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import { AssayError } from '../../../error.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { objectField, requiredString, stringField } from '../../json-body.ts'
import { addressHeaders, type PublicUrl } from '../../public-url.ts'
import { jsonReply } from '../../reply.ts'
import type { Route } from '../../route.ts'
import { checkOrganization } from '../app/request.ts'
import { downloadReply } from './download.ts'

/** What may be stored of files. */
export interface FileMasking {
  maskRows(bytes: Uint8Array, view: Gate): Promise<Uint8Array>
  maskFile(bytes: Uint8Array, view: Gate): Promise<Uint8Array>
}

export interface AttachmentOptions {
  readonly engine: FileMasking
  readonly access: Access
  readonly attachments: Attachments
  readonly publicUrl: PublicUrl
}

export function attachmentRoutes({
  engine,
  access,
  attachments,
  publicUrl,
}: AttachmentOptions): Route[] {
  const { store, signer } = attachments
  return [
    {
      method: 'POST',
      path: '/attachment',
      access: 'key',
      headers: addressHeaders,
      handle: async (request, gate) => {
        const body = await readJsonBody(request)
        checkOrganization(body, gate)
        const place = placeOf(requiredString(body, 'key'), gate)
        const contentType = contentTypeOf(stringField(body, 'content_type'))
        const given = stringField(body, 'filename') ?? 'attachment'
        const filename = Buffer.from(await engine.maskFile(Buffer.from(given), gate)).toString()
        const { userId } = gate.principal
        const { status, userId: announcedBy } = await store.announce(place, {
          filename,
          contentType,
          userId,
        })
        if (status === 'done' || announcedBy !== userId) {
          throw new AssayError('REQUEST_CONFLICT', 'there is an attachment of this key already', {
            path: 'key',
            hint: 'use a new key, such as a UUID',
          })
        }
        const signedUrl =
          publicUrl(request.headers) + signer.sign('put', contentName(place), gate.principal)
        return jsonReply({ signedUrl, headers: { 'content-type': contentType } })
      },
    },
    {
      method: 'POST',
      path: '/attachment/status',
      access: 'key',
      handle: async (request, gate) => {
        const body = await readJsonBody(request)
        checkOrganization(body, gate)
        const name = contentName(placeOf(requiredString(body, 'key'), gate))
        const status = objectField(body, 'status')
        const announced = await store.details(name)
        const isOwn = announced?.userId === gate.principal.userId
        if (isOwn && status?.upload_status === 'error') {
          const message = status.error_message
          await store.noteError(name, typeof message === 'string' ? message : 'the upload failed')
        }
        return jsonReply({})
      },
    },
    {
      method: 'GET',
      path: '/attachment',
      access: 'key',
      headers: addressHeaders,
      handle: async ({ query, headers }, gate) => {
        const external = query.get('url')
        if (external !== null) return jsonReply(externalAttachment(external))
        const key = query.get('key')
        if (key === null) {
          throw new AssayError('REQUEST_INVALID', '"key" is missing', { path: 'key' })
        }
        const name = contentName(placeOf(key, gate))
        const details = await store.details(name)
        const { userId } = gate.principal
        if (!details || !attachments.mayRead(name, details, gate, userId)) {
          throw missingAccess('read', 'attachment', key)
        }
        const { status, errorMessage } = details
        return jsonReply({
          downloadUrl: publicUrl(headers) + signer.sign('get', name, gate.principal),
          status: {
            upload_status: status,
            ...(errorMessage !== null && { error_message: errorMessage }),
          },
        })
      },
    },
    {
      method: 'PUT',
      path: '/attachment/content/:name',
      access: 'open',
      bodySize: 'records',
      admit: ([name], query) => signer.verify('put', name ?? '', query),
      handle: async ({ parameters, query, body, keepChecking }) => {
        const name = parameters[0]!
        const holder = signer.verify('put', name, query)
        const check = () => requireHolder(access, holder)
        check()
        keepChecking(check)
        const bytes = await body
        const gate = access.gate(holder)
        const details = await store.details(name)
        const mask = details?.kind === 'overflow' ? 'maskRows' : 'maskFile'
        const masked = details?.kind === 'bundle' ? bytes : await engine[mask](bytes, gate)
        if (await store.write(name, masked)) return jsonReply({})
        throw new AssayError('ACCESS_DENIED', 'the file was not announced, or has come before')
      },
    },
    {
      method: 'GET',
      path: '/attachment/content/:name',
      access: 'open',
      headers: ['range'],
      handle: async ({ parameters, query, headers, signal, keepChecking }) => {
        const name = parameters[0]!
        const holder = signer.verify('get', name, query)
        const details = await store.details(name)
        const check = () => {
          requireHolder(access, holder)
          const gate = access.gate(holder)
          if (details && attachments.mayRead(name, details, gate, holder.userId)) return
          throw new AssayError('ACCESS_DENIED', 'the file is not to be read any more')
        }
        if (details) check()
        keepChecking(check)
        return downloadReply(store, name, headers.get('range'), signal)
      },
    },
  ]
}

/** A link is of nobody any more once what it was asked for with has ended. */
function requireHolder(access: Access, holder: Principal): void {
  try {
    access.requireValid(holder)
  } catch (cause) {
    throw new AssayError('ACCESS_DENIED', 'the link has ended with the key or session it is of', {
      hint: 'ask for a new one',
      cause,
    })
  }
}

function placeOf(key: string, gate: Gate): ContentPlace {
  return { organizationId: gate.principal.organizationId, kind: 'attachment', key }
}

function contentTypeOf(text = 'application/octet-stream'): string {
  if (/^[\w.+-]+\/[\w.+-]+( *;[\x20-\x7e]*)?$/.test(text) && text.length <= 255) return text
  throw new AssayError('REQUEST_INVALID', `"${text.slice(0, 100)}" is no content type`, {
    path: 'content_type',
  })
}

/** What lies elsewhere is read from there. */
function externalAttachment(text: string) {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) {
    return { downloadUrl: text, status: { upload_status: 'done' } }
  }
  throw new AssayError('REQUEST_INVALID', 'an external attachment must have an http or https URL', {
    path: 'url',
    hint: 'this service has no credentials for other storage',
  })
}
