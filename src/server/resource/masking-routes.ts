/** Rules that mask values of records before they are stored. */
import type { Entries } from '../../catalog/entry.ts'
import { identifier } from '../../catalog/schema/field.ts'
import {
  maskingRulePatch,
  maskingRuleSchema,
  newMaskingRule,
  ruleOf,
} from '../../catalog/schema/masking.ts'
import { AssayError } from '../../error.ts'
import { ruleFault } from '../../masking/rule.ts'
import type { Route } from '../route.ts'
import { placedIn, resourceRoutes } from './resource.ts'

type Values = { readonly [field: string]: unknown }

export const maskingRuleRoutes: readonly Route[] = resourceRoutes({
  kind: 'masking_rule',
  path: '/v1/masking_rule',
  parameter: 'masking_rule',
  title: 'masking rule',
  schema: maskingRuleSchema,
  list: {
    query: { project_id: identifier.optional() },
    scope: ({ project_id }) => (typeof project_id === 'string' ? { parentId: project_id } : {}),
  },
  creation: {
    body: newMaskingRule,
    put: 'replace',
    mayLackProject: true,
    given: (body, gate) => {
      requireRule(body)
      const placed = typeof body.project_id === 'string' ? placedIn(body, gate) : body
      return { project_id: null, ...placed }
    },
  },
  patch: {
    body: maskingRulePatch,
    clearable: ['path', 'fields', 'pattern', 'description'],
    changes: (body) => (before) => {
      const changes = body as Partial<Entries['masking_rule']>
      requireRule({ ...before, ...changes })
      return changes
    },
  },
  isRemovable: true,
})

/** Throws a 400 that names what is wrong with a rule. */
export function requireRule(values: Values): void {
  const found = ruleFault(ruleOf(values as unknown as Entries['masking_rule']))
  if (found) {
    const { part, fault } = found
    throw new AssayError('REQUEST_INVALID', `"${part}" ${fault}`, { path: part })
  }
}
