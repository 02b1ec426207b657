/** What of records is not to be stored as it comes, in an organization or in one of its projects. */
import { z } from 'zod'
import { builtInPatterns, type MaskingRule } from '../../masking/rule.ts'
import { identifier, name, shortText, text, timestamp } from './field.ts'

const mostFields = 1000
const longestExpression = 4000

const pattern = z
  .discriminatedUnion('type', [
    z.object({ type: z.enum(builtInPatterns) }),
    z.object({
      type: z.literal('expression'),
      expression: z.string().min(1).max(longestExpression),
      flags: z
        .string()
        .regex(/^[ims]{0,3}$/)
        .optional(),
    }),
  ])
  .meta({ id: 'MaskingPattern' })

const actions = z.discriminatedUnion('type', [
  z.object({ type: z.literal('drop') }),
  z.object({ type: z.literal('hash') }),
  z.object({ type: z.literal('replace'), text: shortText.optional() }),
  z.object({ type: z.literal('keep_last_four') }),
])
const action = actions.meta({ id: 'MaskingAction' })

const path = shortText.min(1)
const fieldNames = z.array(shortText.min(1)).min(1).max(mostFields)

export const maskingRuleSchema = z
  .object({
    id: identifier,
    org_id: identifier,
    /** Null: it is for all projects of the organization. */
    project_id: identifier.nullable(),
    user_id: identifier.nullable(),
    created: timestamp.nullable(),
    name,
    description: text.nullable(),
    /** Null is the same as true. */
    enabled: z.boolean().nullable(),
    path: path.nullable(),
    fields: fieldNames.nullable(),
    pattern: pattern.nullable(),
    action,
  })
  .meta({ id: 'MaskingRule' })

export const newMaskingRule = z.object({
  project_id: identifier.nullish(),
  name,
  description: text.nullish(),
  enabled: z.boolean().nullish(),
  path: path.nullish(),
  fields: fieldNames.nullish(),
  pattern: pattern.nullish(),
  action,
})

export const maskingRulePatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  enabled: z.boolean().nullish(),
  path: path.nullish(),
  fields: fieldNames.nullish(),
  pattern: pattern.nullish(),
  action: actions.nullish(),
})

/** The rule of an entry, or of what one is to be made of. */
export function ruleOf({
  path,
  fields,
  pattern,
  action,
}: Pick<z.infer<typeof newMaskingRule>, 'path' | 'fields' | 'pattern' | 'action'>): MaskingRule {
  return {
    action,
    ...(path != null && { path }),
    ...(fields && { fields }),
    ...(pattern && { pattern }),
  }
}
