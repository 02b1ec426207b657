/** The mark and all icons of the page: drawn in lines of the text's color, on 16 units. */

/** Paths by name; names of sections are those of their addresses. */
const paths = {
  home: 'M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5',
  projects: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  logs: 'M2.5 4h11M2.5 8h8M2.5 12h10',
  experiments:
    'M6 2.5h4M6.8 2.5v4L3 12.2a.9.9 0 0 0 .8 1.3h8.4a.9.9 0 0 0 .8-1.3L9.2 6.5v-4M5 9.5h6',
  datasets:
    'M3 4c0-1 2.2-1.8 5-1.8S13 3 13 4s-2.2 1.8-5 1.8S3 5 3 4Zm0 0v8c0 1 2.2 1.8 5 1.8s5-.8 5-1.8V4M3 8c0 1 2.2 1.8 5 1.8S13 9 13 8',
  review: 'M2.5 3h11v7.5H8l-3 3v-3H2.5zM5.5 6.7l1.7 1.6 3.3-3.2',
  query: 'm3 4 4 4-4 4M8.5 12.5H13',
  settings: 'M2.5 4.5h5M11 4.5h2.5M2.5 11.5H5M8.5 11.5h5M9.2 2.8v3.4M6.8 9.8v3.4',
  documentation:
    'M8 4C6.5 2.9 4.5 2.7 2.5 3v9.5c2-.3 4-.1 5.5 1 1.5-1.1 3.5-1.3 5.5-1V3c-2-.3-4-.1-5.5 1Zm0 0v9.5',
  leave: 'M6.5 2.5H3v11h3.5M7 8h6.5M11 5.5 13.5 8 11 10.5',
  fold: 'M2.5 3h11v10h-11zM6 3v10M11 6 9 8l2 2',
  unfold: 'M2.5 3h11v10h-11zM6 3v10M9 6l2 2-2 2',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11Zm0 0a5.5 5.5 0 0 1 0 11',
  close: 'm4 4 8 8M12 4l-8 8',
  warning: 'M8 2.5 14 13H2Zm0 4v3M8 11.2v.1',
  edit: 'M3 13l.6-2.8 7.2-7.2 2.2 2.2-7.2 7.2zM9.3 4.5l2.2 2.2',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  plus: 'M8 3.5v9M3.5 8h9',
  minus: 'M3.5 8h9',
  down: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  right: 'm6.5 4.5 3.5 3.5-3.5 3.5',
  'arrow-up': 'M8 13V3M4.5 6.5 8 3l3.5 3.5',
  'arrow-down': 'M8 3v10M4.5 9.5 8 13l3.5-3.5',
  'arrow-left': 'M13 8H3M6.5 4.5 3 8l3.5 3.5',
  'arrow-right': 'M3 8h10M9.5 4.5 13 8l-3.5 3.5',
} as const

export type IconName = keyof typeof paths

/** Says nothing by itself: what it stands beside, or the name of its button, does. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}

/** The touchstone: a stone, and the streak that what is tried has left on it. The favicon is the same. */
export function Mark() {
  return (
    <svg class="mark-drawing" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path
        class="stone"
        d="M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2Z"
      />
      <path class="streak" d="M7.5 17.5 12 6.5l4.5 11M9.3 13.5h5.4" />
    </svg>
  )
}
