/** What the retention of a project says, as it is stored with its automation. */
import type { z } from 'zod'
import type { Catalog, CatalogObject } from '../../catalog/catalog.ts'
import { retentionConfiguration } from '../../catalog/schema/automation.ts'
import { parseExpression } from '../../parser/parse.ts'

export type RetentionRule = z.infer<typeof retentionConfiguration>

/** A trace with a span that has this tag stays, whatever rules say. */
export const usualHoldTags: readonly string[] = ['legal-hold']

/** The rule of an automation; undefined of one that does something else. Throws what is wrong with its filter. */
export function ruleOf(config: unknown): RetentionRule | undefined {
  const parsed = retentionConfiguration.safeParse(config)
  if (!parsed.success) return undefined
  checkFilter(parsed.data.keep_filter)
  return parsed.data
}

/** Throws unless the text is one expression, so that it may stand in a query. */
export function checkFilter(text: string | null | undefined): void {
  if (text) parseExpression(text)
}

/** The objects of a project that the rule is about. */
export function objectsOf(
  catalog: Catalog,
  projectId: string,
  { object_type }: Pick<RetentionRule, 'object_type'>,
): CatalogObject[] {
  return catalog.objectsInProject(projectId).filter(({ type }) => type === object_type)
}
