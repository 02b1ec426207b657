/** A picture, sound or a file of a value. Nothing is asked of other servers: what lies there is named. */
import type { ComponentChildren } from 'preact'
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import type { MediaPart } from './media-forms.ts'
import { Failure } from './notice.tsx'

export function Media({ part }: { readonly part: MediaPart }) {
  const { from } = part
  switch (from.kind) {
    case 'data':
      return <Shown part={part} url={from.url} />
    case 'attachment':
      return <Attachment part={part} attachment={from.key} />
    case 'outside':
      return (
        <p class="media-outside">
          <span class="kind">{calledOf(part)}</span>{' '}
          <Elsewhere address={from.address}>{from.address}</Elsewhere>
        </p>
      )
  }
}

/** A link to another server, which nobody but the reader follows. */
export function Elsewhere({
  address,
  children,
}: {
  readonly address: string
  readonly children: ComponentChildren
}) {
  if (!/^(https?|mailto):/i.test(address)) return <span title={address}>{children}</span>
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
      {children}
    </a>
  )
}

function Attachment({
  part,
  attachment,
}: {
  readonly part: MediaPart
  readonly attachment: string
}) {
  const { data, error, reload } = useLoaded(`attachment ${attachment}`, async (signal) => {
    const target = `/attachment?key=${encodeURIComponent(attachment)}`
    return (await requestJson<{ downloadUrl: string }>(target, { signal })).downloadUrl
  })
  if (error) return <Failure error={error} retry={reload} />
  return data === undefined ? (
    <p class="hint">{part.name ?? 'File'}…</p>
  ) : (
    <Shown part={part} url={data} />
  )
}

function Shown({ part, url }: { readonly part: MediaPart; readonly url: string }) {
  const { mediaType, name } = part
  // Pictures that are documents of their own, as those of SVG, run nothing in an image.
  if (mediaType.startsWith('image/')) {
    return <img class="media" src={url} alt={name ?? 'Picture'} loading="lazy" />
  }
  if (mediaType.startsWith('audio/')) {
    return (
      <audio class="media" src={url} controls preload="metadata" aria-label={name ?? 'Sound'}>
        <track kind="captions" />
      </audio>
    )
  }
  return (
    <p>
      <span class="kind">{calledOf(part)}</span>{' '}
      <a href={url} download={name ?? 'file'}>
        {name ?? 'Download'}
      </a>
    </p>
  )
}

function calledOf({ mediaType }: MediaPart): string {
  const [kind] = mediaType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : mediaType || 'file'
}
