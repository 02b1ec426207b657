/** `/v1/audit_trail`: who changed what in the organization. */
import { z } from 'zod'
import { auditRecordSchema } from '../../catalog/audit-trail.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { operation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'

const defaultLimit = 100
const largestLimit = 1000

export const auditRoutes: readonly Route[] = [
  operation({
    method: 'GET',
    path: '/v1/audit_trail',
    tag: 'audit trail',
    summary: 'Lists who changed what in the organization, or on one entry, newest first',
    query: z.object({
      limit: z.int().min(0).max(largestLimit).optional(),
      starting_after: z
        .string()
        .regex(/^\d{16}$/)
        .optional(),
      entry_id: identifier.optional(),
    }),
    answer: z.object({ objects: z.array(auditRecordSchema) }),
    handle: ({ query }, gate) => {
      const { limit = defaultLimit, starting_after, entry_id } = query
      const objects = []
      for (const record of gate.auditTrail(entry_id, starting_after)) {
        if (objects.length === limit) break
        objects.push(record)
      }
      return jsonReply({ objects })
    },
  }),
]
