/** Pictures, sound and files in messages, in the forms that SDKs and instrumentations write. */
import { isJsonObject } from '../../json/exact-number.ts'

export interface MediaPart {
  readonly kind: 'media'
  /** `image/png`; empty where it is not told. */
  readonly mediaType: string
  readonly name: string | undefined
  readonly from: MediaSource
}

export type MediaSource =
  /** In the value itself, as a `data:` URL. */
  | { readonly kind: 'data'; readonly url: string }
  /** Uploaded to this service. */
  | { readonly kind: 'attachment'; readonly key: string }
  /** Elsewhere: it is named, and never asked for. */
  | { readonly kind: 'outside'; readonly address: string }

type Fields = Readonly<Record<string, unknown>>

/** Undefined for what is none. */
export function mediaOf(part: Fields): MediaPart | undefined {
  const type = String(part.type ?? '')
  if (type === 'braintrust_attachment') return attachmentOf(part)
  for (const field of ['image_url', 'input_audio', 'file', 'source', 'image', 'audio', 'video']) {
    const found = inField(part, field, type)
    if (found) return found
  }
  const inline = part.inlineData ?? part.inline_data ?? part.fileData ?? part.file_data
  if (isJsonObject(inline)) return contentOf(inline, '')
  const isMedia = /^(image|audio|video|file|document|blob|uri|media|input_file)$/.test(type)
  return isMedia ? contentOf(part, typeIn(part, type)) : undefined
}

/** A file that was uploaded to this service; undefined for what is none. */
export function attachmentOf(value: Fields): MediaPart | undefined {
  const { type, key, filename, content_type } = value
  if (type !== 'braintrust_attachment' || typeof key !== 'string') return undefined
  return {
    kind: 'media',
    mediaType: typeof content_type === 'string' ? content_type : '',
    name: typeof filename === 'string' ? filename : undefined,
    from: { kind: 'attachment', key },
  }
}

/** A text that is a picture, sound or a file. */
export function mediaOfText(text: string, mediaType = ''): MediaPart | undefined {
  const type = /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(text)?.[1]
  if (type !== undefined) {
    return { kind: 'media', mediaType: type, name: undefined, from: { kind: 'data', url: text } }
  }
  if (!/^(https?|gs|s3|file):/.test(text)) return undefined
  return { kind: 'media', mediaType, name: undefined, from: { kind: 'outside', address: text } }
}

function inField(part: Fields, field: string, type: string): MediaPart | undefined {
  const value = part[field]
  const mediaType = typeIn(part, field === 'source' || field === 'file' ? type : field)
  if (typeof value === 'string') return contentOf({ ...part, data: value }, mediaType)
  if (!isJsonObject(value)) return undefined
  const inner = isJsonObject(value.source) ? { ...value, ...value.source } : value
  return attachmentOf(inner) ?? contentOf(inner, typeIn(inner, mediaType))
}

/** What a field or a type calls it, where nothing tells more. */
const usualTypes: readonly (readonly [RegExp, string])[] = [
  [/image/, 'image/*'],
  [/audio/, 'audio/*'],
  [/video/, 'video/*'],
]

function typeIn(value: Fields, called: string): string {
  const given = value.mimeType ?? value.mime_type ?? value.media_type ?? value.mediaType
  if (typeof given === 'string') return given
  const kind = String(value.modality ?? called)
  const usual =
    usualTypes.find(([name]) => name.test(kind))?.[1] ?? (kind.includes('/') ? kind : '')
  // Of a picture or of sound alone, the format is the second half of its type.
  return typeof value.format === 'string' && usual.endsWith('*')
    ? usual.replace('*', value.format)
    : usual
}

const dataFields = ['data', 'bytes', 'content', 'file_data', 'url', 'uri', 'fileUri', 'file_uri']

function contentOf(value: Fields, called: string): MediaPart | undefined {
  const mediaType = typeIn(value, called)
  const given = value.filename ?? value.name
  const name = typeof given === 'string' ? given : undefined
  for (const field of dataFields) {
    const content = value[field]
    if (isJsonObject(content)) {
      const attached = attachmentOf(content)
      if (attached) return attached
    }
    if (typeof content !== 'string' || content === '') continue
    const found = mediaOfText(content, mediaType) ?? base64Of(content, mediaType)
    if (found) return { ...found, name }
  }
  return undefined
}

function base64Of(content: string, mediaType: string): MediaPart | undefined {
  if (mediaType === '' || !/^[\w+/=\s-]+$/.test(content)) return undefined
  // Browsers find out by themselves which picture it is.
  const type = mediaType.replace('/*', mediaType.startsWith('image') ? '/png' : '/wav')
  const url = `data:${type};base64,${content.replaceAll(/\s/g, '')}`
  return { kind: 'media', mediaType: type, name: undefined, from: { kind: 'data', url } }
}
