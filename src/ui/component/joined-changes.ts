/** Words that are replaced one after another as one change, with the blanks between them in both of its texts. */
import type { Change as Part } from 'diff'

export function joinedChanges(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = []
  let run: Part[] = []
  const end = () => {
    joined.push(...(run.some(isAdded) && run.some(isRemoved) ? replacement(run) : run))
    run = []
  }
  for (const [place, part] of parts.entries()) {
    const next = parts[place + 1]
    const isBetween = run.length > 0 && /^[^\S\n]+$/.test(part.value) && next && isChange(next)
    if (isChange(part) || isBetween) run.push(part)
    else {
      end()
      joined.push(part)
    }
  }
  end()
  return joined
}

function replacement(run: readonly Part[]): readonly Part[] {
  const text = (isIn: (part: Part) => boolean) =>
    run
      .filter(isIn)
      .map(({ value }) => value)
      .join('')
  const before = text((part) => !isAdded(part))
  const after = text((part) => !isRemoved(part))
  return [
    { value: before, added: false, removed: true, count: 1 },
    { value: after, added: true, removed: false, count: 1 },
  ]
}

const isAdded = ({ added }: Part) => added
const isRemoved = ({ removed }: Part) => removed
const isChange = (part: Part) => isAdded(part) || isRemoved(part)
