/** The formats of an answer, and how clients name them. */

export const outputFormats = ['json', 'jsonl', 'csv', 'arrow', 'parquet'] as const
export type OutputFormat = (typeof outputFormats)[number]

interface FormatNames {
  readonly mediaType: string
  /** Other media types that ask for it. */
  readonly aliases: readonly string[]
  /** Of a file that holds it. */
  readonly ending: string
  /** Whether compressing it once more saves anything worth the time. */
  readonly isCompressible: boolean
}

export const formatNames: Readonly<Record<OutputFormat, FormatNames>> = {
  json: { mediaType: 'application/json', aliases: [], ending: 'json', isCompressible: true },
  jsonl: {
    mediaType: 'application/x-ndjson',
    aliases: ['application/ndjson', 'application/jsonl', 'application/x-jsonlines'],
    ending: 'jsonl',
    isCompressible: true,
  },
  csv: { mediaType: 'text/csv', aliases: [], ending: 'csv', isCompressible: true },
  arrow: {
    mediaType: 'application/vnd.apache.arrow.stream',
    aliases: [],
    ending: 'arrows',
    isCompressible: true,
  },
  parquet: {
    mediaType: 'application/vnd.apache.parquet',
    aliases: ['application/x-parquet', 'application/parquet'],
    ending: 'parquet',
    isCompressible: false,
  },
}

/** The media type of an answer, as its header says it. */
export function contentTypeOf(format: OutputFormat): string {
  const { mediaType } = formatNames[format]
  return format === 'csv' ? `${mediaType}; charset=utf-8; header=present` : mediaType
}

export function isOutputFormat(text: string): text is OutputFormat {
  return outputFormats.some((format) => format === text)
}

/**
 * What an `Accept` header prefers of the formats; undefined when it leaves the choice, or names
 * nothing that there is.
 */
export function formatOfAccept(header: string): OutputFormat | undefined {
  let best: { readonly format: OutputFormat; readonly quality: number } | undefined
  for (const { value, quality } of readPreferences(header)) {
    const format = outputFormats.find((each) => {
      const { mediaType, aliases } = formatNames[each]
      return mediaType === value || aliases.includes(value)
    })
    if (format && quality > (best?.quality ?? 0)) best = { format, quality }
  }
  return best?.format
}

export interface Preference {
  /** In lower case. */
  readonly value: string
  /** From 0, which refuses it, to 1. */
  readonly quality: number
}

/** The values of a header such as `Accept`, with their weights, in the order in which they stand. */
export function readPreferences(header: string): Preference[] {
  return header.split(',').flatMap((part) => {
    const [value = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    if (value === '') return []
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))
    const quality = weight === undefined ? 1 : Number(weight.replace(/^q\s*=\s*/, ''))
    return [{ value, quality: quality >= 0 && quality <= 1 ? quality : 0 }]
  })
}
