/** Compares two answers as wholes, where sums of doubles may differ in their last digits. */

const relativeTolerance = 1e-9

/**
 * Says where two JSON values first differ, such as `[3].model: "a" is not "b"`; undefined if they
 * are equal. Numbers within 1e-9 of each other, relatively, are.
 */
export function firstDifference(actual: unknown, expected: unknown, at = ''): string | undefined {
  if (typeof actual === 'number' && typeof expected === 'number') {
    const tolerance = relativeTolerance * Math.max(Math.abs(actual), Math.abs(expected))
    if (Math.abs(actual - expected) <= tolerance) return undefined
  } else if (Array.isArray(actual) && Array.isArray(expected)) {
    if (actual.length !== expected.length) {
      return `${at || 'answer'}: ${actual.length} elements are not ${expected.length}`
    }
    for (const [i, element] of actual.entries()) {
      const difference = firstDifference(element, expected[i], `${at}[${i}]`)
      if (difference !== undefined) return difference
    }
    return undefined
  } else if (isRecord(actual) && isRecord(expected)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const difference = firstDifference(actual[key], expected[key], `${at}.${key}`)
      if (difference !== undefined) return difference
    }
    return undefined
  } else if (actual === expected) {
    return undefined
  }
  return `${at || 'answer'}: ${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
