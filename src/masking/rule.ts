/** Rules that say which values of records are stored in another form, or not at all. */
import { compilePattern } from '../type/linear-pattern.ts'
import { readMaskingPath } from './path.ts'

/** What texts are searched for, beside expressions of one's own. */
export const builtInPatterns = ['email', 'phone', 'card', 'iban', 'key', 'jwt'] as const

export type BuiltInPattern = (typeof builtInPatterns)[number]

export type MaskingPattern =
  | { readonly type: BuiltInPattern }
  /** RE2 syntax: matched in time linear in the text. Flags are i, m and s. */
  | {
      readonly type: 'expression'
      readonly expression: string
      readonly flags?: string | undefined
    }

export type MaskingAction =
  /** The matches are taken out of their text; without a pattern, the member or element is. */
  | { readonly type: 'drop' }
  /** The same value becomes the same text, which only who has the key could guess. */
  | { readonly type: 'hash' }
  | { readonly type: 'replace'; readonly text?: string | undefined }
  | { readonly type: 'keep_last_four' }

export interface MaskingRule {
  /** Where: `input[*].content`; everywhere in the record if not given. */
  readonly path?: string | undefined
  /** Members of these names, at any depth, in any case; `-` and `_` do not count. */
  readonly fields?: readonly string[] | undefined
  /** What is looked for in the texts that are found so; all of the value if not given. */
  readonly pattern?: MaskingPattern | undefined
  readonly action: MaskingAction
}

/** Rules that hold together, in their order: where matches overlap, the first decides what becomes of both. */
export interface MaskingRules {
  readonly rules: readonly MaskingRule[]
  /** Of hashes. */
  readonly key: Uint8Array
}

/** Fields of a row that name it or say what to do with it. They are stored as they come. */
export const exemptFields: ReadonlySet<string> = new Set([
  'id',
  'span_id',
  'root_span_id',
  'span_parents',
  'created',
  'origin',
  'experiment_id',
  'dataset_id',
  'project_id',
  'prompt_session_id',
  'log_id',
  'org_id',
  'is_root',
  '_xact_id',
  '_pagination_key',
  '_is_merge',
  '_object_delete',
  '_merge_paths',
  '_array_delete',
  '_parent_id',
  '_audit_source',
  '_async_scoring_control',
  '_async_scoring_state',
  '_skip_async_scoring',
])

/** Fields of a row that are stored under another name, in rows of some kind or in all. */
export const renamedFields: readonly string[] = ['inputs', 'output', 'comment']

/** Fields whose type is fixed: all of one can only be dropped. */
export const typedFields: ReadonlySet<string> = new Set([
  'metadata',
  'metrics',
  'span_attributes',
  'scores',
  'tags',
  'comments',
  'context',
])

/** The name of a member as `fields` compares it: `API-Key`, `api_key` and `apiKey` are one. */
export function foldedName(name: string): string {
  return name.toLowerCase().replace(/[-_. ]/g, '')
}

/** What is wrong with a rule, and with which part of it; undefined when nothing is. */
export function ruleFault(rule: MaskingRule): { part: string; fault: string } | undefined {
  const { path, fields, pattern, action } = rule
  if (path === undefined && fields === undefined && pattern === undefined) {
    return { part: 'path', fault: 'is missing: a rule has a path, fields or a pattern' }
  }
  if (fields?.some((name) => foldedName(name) === '')) {
    return { part: 'fields', fault: 'has a name without letters' }
  }
  const steps = path === undefined ? undefined : readMaskingPath(path)
  if (steps && 'fault' in steps) return { part: 'path', fault: steps.fault }
  const first = steps?.[0]
  if (first?.kind === 'name' && exemptFields.has(first.name)) {
    return { part: 'path', fault: `"${first.name}" names the record, and is stored as it comes` }
  }
  if (first && first.kind !== 'name') return { part: 'path', fault: 'must begin with a field' }
  const isAll = steps?.length === 1 && fields === undefined && pattern === undefined
  if (isAll && first?.kind === 'name' && typedFields.has(first.name) && action.type !== 'drop') {
    const fault = `"${first.name}" cannot be a text: drop it, or name what is in it`
    return { part: 'path', fault }
  }
  if (pattern?.type !== 'expression') return undefined
  const compiled = compilePattern(pattern.expression, pattern.flags ?? '')
  if ('fault' in compiled) return { part: 'pattern.expression', fault: compiled.fault }
  if (compiled.test('')) {
    return {
      part: 'pattern.expression',
      fault: 'matches the empty text, so it would match everywhere',
    }
  }
  return undefined
}

/** What takes the place of a match. */
export function replacementOf({ pattern, action }: MaskingRule): string {
  if (action.type !== 'replace') return ''
  const name = pattern && pattern.type !== 'expression' ? pattern.type : 'masked'
  return action.text ?? `[${name}]`
}
