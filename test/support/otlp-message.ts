/** Requests of OpenTelemetry, put together by hand so that any of their parts may be wrong. */

/** A field of a protocol buffer that has a length: a text, bytes or a message. */
export function field(number: number, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
}

export function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 0x80) return Buffer.from([...bytes, rest])
    bytes.push((rest % 128) | 0x80)
  }
}

export interface SpanParts {
  readonly traceId: string
  readonly spanId: string
  readonly name?: string
  /** Encoded values, by their keys. */
  readonly attributes?: Readonly<Record<string, Uint8Array>>
}

/** A span as a protocol buffer. */
export function spanMessage({ traceId, spanId, name = 's', attributes = {} }: SpanParts): Buffer {
  return Buffer.concat([
    field(1, Buffer.from(traceId, 'hex')),
    field(2, Buffer.from(spanId, 'hex')),
    field(5, name),
    ...Object.entries(attributes).map(([key, value]) => {
      return field(9, Buffer.concat([field(1, key), field(2, value)]))
    }),
  ])
}

/** The request that carries these spans. */
export function tracesMessage(...spans: readonly Uint8Array[]): Buffer {
  return field(1, field(2, Buffer.concat(spans.map((span) => field(2, span)))))
}

/** A list in a list, and so on, around a text. */
export function deepMessage(levels: number): Buffer {
  // From the inside out: each level is longer by what it takes to say how long it is.
  const heads: Buffer[] = []
  const leaf = field(1, 'deep')
  let length = leaf.length
  for (let level = 0; level < levels; level++) {
    const values = Buffer.concat([varint(0x0a), varint(length)])
    const array = Buffer.concat([varint(0x2a), varint(values.length + length)])
    heads.push(values, array)
    length += values.length + array.length
  }
  return Buffer.concat([...heads.reverse(), leaf])
}

/** The same in JSON. */
export function deepJson(levels: number): string {
  const open = '{"arrayValue":{"values":['.repeat(levels)
  return `${open}{"stringValue":"deep"}${']}}'.repeat(levels)}`
}
