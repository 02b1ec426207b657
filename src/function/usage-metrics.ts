/** Metrics that say what calls of models have used, whoever sent them. */
import { isObject, type Value } from '../type/value.ts'

/** `prompt_tokens`, `prompt_cache_creation_5m_tokens`, `estimated_cost`, `prompt_cost` and their like. */
export function isUsageMetric(name: string): boolean {
  return /(?:^|_)(?:tokens|cost)$/.test(name)
}

/** The members of an object of metrics that are usage. */
export function usageMetrics(metrics: Value): Value {
  if (metrics === null || !isObject(metrics)) return null
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => isUsageMetric(name)))
}
