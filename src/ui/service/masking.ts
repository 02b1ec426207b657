/** Masking of an organization, as the service has it. */
import { requestJson } from './client.ts'

export interface MaskingRuleBody {
  readonly project_id?: string | null
  readonly path: string | null
  readonly fields: readonly string[] | null
  readonly pattern:
    | { readonly type: string }
    | { readonly type: 'expression'; readonly expression: string; readonly flags?: string }
    | null
  readonly action: { readonly type: string; readonly text?: string }
}

export interface StoredMaskingRule extends MaskingRuleBody {
  readonly id: string
  readonly name: string
  readonly enabled: boolean | null
}

interface Named {
  readonly id: string
  readonly name: string
}

export interface MaskingTrial {
  readonly rows: number
  readonly changed_rows: number
  readonly changed_values: number
  readonly examples: readonly {
    readonly id: string
    readonly path: string
    readonly before: string
    readonly after: string
  }[]
}

export interface MaskedAnew {
  readonly rewritten_rows: number
  readonly cleared_records: number
}

export async function listMaskingRules(signal: AbortSignal): Promise<{
  readonly rules: readonly StoredMaskingRule[]
  readonly projects: readonly Named[]
}> {
  const list = async <Item>(path: string) =>
    (await requestJson<{ objects: readonly Item[] }>(path, { signal })).objects
  const [rules, projects] = await Promise.all([
    list<StoredMaskingRule>('/v1/masking_rule'),
    list<Named>('/v1/project'),
  ])
  return { rules, projects }
}

/** What the rule would change of what is stored in these projects. */
export async function tryRule(
  rule: MaskingRuleBody,
  projects: readonly string[],
): Promise<MaskingTrial> {
  const { project_id: _, ...body } = rule
  const sum = { rows: 0, changed_rows: 0, changed_values: 0 }
  const examples: MaskingTrial['examples'][number][] = []
  for (const project_id of projects) {
    const found = await requestJson<MaskingTrial>('/v1/masking_rule/dry_run', {
      body: { project_id, rules: [body] },
    })
    sum.rows += found.rows
    sum.changed_rows += found.changed_rows
    sum.changed_values += found.changed_values
    examples.push(...found.examples)
  }
  return { ...sum, examples }
}

export function saveMaskingRule(
  id: string | undefined,
  body: MaskingRuleBody & { readonly name: string },
): Promise<StoredMaskingRule> {
  if (id === undefined) return requestJson('/v1/masking_rule', { method: 'POST', body })
  const { project_id: _, ...changes } = body
  return requestJson(`/v1/masking_rule/${id}`, { method: 'PATCH', body: changes })
}

export function maskAnew(project_id: string, areOldRemoved: boolean): Promise<MaskedAnew> {
  const body = { project_id, remove_old_versions: areOldRemoved }
  return requestJson('/v1/masking_rule/rewrite', { method: 'POST', body })
}
