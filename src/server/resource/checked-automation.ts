/** What is looked at when an automation is saved. */
import type { Gate } from '../../access/gate.ts'
import { checkExport, isExport } from '../export/export-rule.ts'
import { ruleOf as retentionOf } from '../retention/rule.ts'

/**
 * The fields as they may be saved; throws what is wrong with a configuration that is carried out. An export reads in the
 * name of whoever saves what it reads and where that goes: nobody's rights are lent to others.
 */
export function checkedAutomation<Values extends { readonly config?: unknown }>(
  values: Values,
  gate: Gate,
): Values & { readonly user_id?: string | null } {
  const { config } = values
  retentionOf(config)
  if (!isExport(config)) return values
  checkExport(config)
  return { ...values, user_id: gate.principal.userId }
}
