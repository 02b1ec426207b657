import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Access } from '../../access/access.ts'
import type { Gate } from '../../access/gate.ts'
import { requireOperator } from '../../access/operator.ts'
import { encodeAnswer } from '../../backup/backup-source.ts'
import { type BackupState, reportedBackup } from '../../backup/backup-state.ts'
import { ContentFolders } from '../../backup/content-folders.ts'
import type { Engine } from '../../engine.ts'
import { EntryListWriter } from '../../storage/backup/entry-list.ts'
import { parseTransaction } from '../../type/transaction.ts'
import { jsonReply, type WholeReply } from '../reply.ts'
import { checkBody } from '../request-check.ts'
import type { Route } from '../route.ts'
import { version } from '../version.ts'

/** Of rows or chunks, about what an answer has. */
const answerBytes = 8 * 2 ** 20
const mostFileBytes = 16 * 2 ** 20

const transaction = z.number().int().nonnegative()
const range = { after: transaction, through: transaction }
const place = z.object({ object: z.number(), transaction, index: z.number() })

/** Of the last entry that was had. */
const entryKey = z.string().regex(/^([0-9a-f]{2}){4,2048}$/)

const question = z.discriminatedUnion('part', [
  z.object({ part: z.literal('state'), transaction }),
  z.object({
    part: z.literal('rows'),
    ...range,
    from: place.optional(),
    isKeptEnough: z.boolean().optional(),
  }),
  z.object({ part: z.literal('log'), ...range }),
  z.object({ part: z.literal('digest'), ...range }),
  z.object({ part: z.literal('evicted') }),
  z.object({ part: z.literal('ids') }),
  z.object({
    part: z.literal('id runs'),
    runs: z.array(z.number().int().nonnegative()),
    after: entryKey.optional(),
  }),
  z.object({
    part: z.literal('entries'),
    of: z.enum(['supersessions', 'field paths']),
    after: entryKey.optional(),
  }),
  z.object({ part: z.literal('catalog'), known: z.array(z.string()), secrets: z.boolean() }),
  z.object({ part: z.literal('folders'), known: z.record(z.string(), z.number()) }),
  z.object({ part: z.literal('files'), names: z.array(z.string()).max(1000) }),
  z.object({
    part: z.literal('file'),
    name: z.string(),
    start: z.number().int().nonnegative(),
    bytes: z.number().int().positive().max(mostFileBytes),
  }),
  z.object({ part: z.literal('secrets') }),
])

type Question = z.infer<typeof question>

export interface BackupRouteParts {
  readonly engine: Engine
  readonly access: Access
  readonly backups: BackupState
  readonly dataDirectory: string
}

/**
 * `POST /admin/backup/read` gives `assay backup` one part of all that is stored, `POST /admin/backup/done` is told of a
 * backup that is whole. Both are for who owns every organization.
 */
export function backupRoutes(parts: BackupRouteParts): Route[] {
  const { access, backups } = parts
  const files = new ContentFolders(parts.dataDirectory)
  const asOperator =
    (
      handle: (body: Promise<Uint8Array>) => Promise<WholeReply>,
    ): Extract<Route, { access: 'key' }>['handle'] =>
    ({ body }, gate: Gate) => {
      requireOperator(access, gate.principal)
      return handle(body)
    }
  return [
    {
      method: 'POST',
      path: '/admin/backup/read',
      access: 'key',
      handle: asOperator(async (body) => ({
        contentType: 'application/octet-stream',
        headers: { 'cache-control': 'no-store' },
        isCompressible: false,
        body: await answer(
          parts,
          files,
          checkBody(z.object({ question }), await body).value.question,
        ),
      })),
    },
    {
      method: 'POST',
      path: '/admin/backup/done',
      access: 'key',
      handle: asOperator(async (body) => {
        await backups.note(checkBody(reportedBackup, await body).value)
        return jsonReply({})
      }),
    },
  ]
}

async function answer(
  { engine, backups, dataDirectory }: BackupRouteParts,
  files: ContentFolders,
  asked: Question,
): Promise<Buffer> {
  switch (asked.part) {
    case 'state': {
      const { entry = null, state: logState } = await engine.backup.logState(asked.transaction)
      const last = parseTransaction(engine.lastTransactionId())
      const { source } = backups
      return encodeAnswer({ source, version, transaction: last, entry, logState })
    }
    case 'rows': {
      const { list, ...head } = await engine.backup.rows(
        asked,
        asked.from,
        answerBytes,
        asked.isKeptEnough,
      )
      return encodeAnswer(head, list)
    }
    case 'log': {
      const { list, ...head } = await engine.backup.log(asked, answerBytes)
      return encodeAnswer(head, list)
    }
    case 'digest':
      return encodeAnswer({ digest: await engine.backup.logDigest(asked) })
    case 'evicted':
      return encodeAnswer({ evicted: (await engine.backup.evicted()) ?? null })
    case 'ids': {
      const { list, ...head } = await engine.backup.ids()
      return encodeAnswer(head, list)
    }
    case 'id runs': {
      const { list, ...head } = await engine.backup.idRuns(asked.runs, asked.after, answerBytes)
      return encodeAnswer(head, list)
    }
    case 'entries': {
      const { list, ...head } = await engine.backup.entries(asked.of, asked.after, answerBytes)
      return encodeAnswer(head, list)
    }
    case 'catalog': {
      const { known, secrets } = asked
      const { chunks, ...head } = await engine.backup.catalog(known, answerBytes, secrets)
      const lists = chunks.map(({ list }) => list ?? new Uint8Array())
      const told = chunks.map(({ hash, list }) => ({ hash, bytes: list?.length }))
      return encodeAnswer({ ...head, chunks: told }, Buffer.concat(lists))
    }
    case 'folders':
      return encodeAnswer({ folders: await files.list(asked.known) })
    case 'files':
      return encodeAnswer({}, listOf(await files.read(asked.names)))
    case 'file': {
      const part = await files.readPart(asked.name, asked.start, asked.bytes)
      return encodeAnswer({ isThere: part !== undefined }, part)
    }
    case 'secrets':
      return encodeAnswer({}, listOf(await secretsOf(dataDirectory)))
  }
}

/** The key of secrets, where no other is given, and that of links to attachments. */
async function secretsOf(directory: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for (const path of ['secret.key', 'attachments/secret']) {
    const content = await readFile(join(directory, path)).catch(() => undefined)
    if (content) found.set(path, content)
  }
  return found
}

function listOf(files: ReadonlyMap<string, Uint8Array>): Buffer {
  const list = new EntryListWriter()
  for (const [name, content] of files) list.add(Buffer.from(name), content)
  return list.take()
}
