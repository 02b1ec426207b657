/** Numbers of the service, out of the text that monitoring reads. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Reads the text form of Prometheus, as far as the service writes it. */
export function readMetrics(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const found = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (!found) return []
    const [, name = '', labels = '', value] = found
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    return [
      {
        name,
        labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])),
        value: Number(value),
      },
    ]
  })
}

/** The sum over all labels; 0 where there is none. */
export function total(samples: readonly Sample[], name: string): number {
  return samples.reduce((sum, sample) => (sample.name === name ? sum + sample.value : sum), 0)
}

export function byLabel(
  samples: readonly Sample[],
  name: string,
  label: string,
): ReadonlyMap<string, number> {
  return new Map(
    samples.flatMap((sample) => {
      const value = sample.labels[label]
      return sample.name === name && value !== undefined ? [[value, sample.value] as const] : []
    }),
  )
}
