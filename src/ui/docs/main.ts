/** The pages of the documentation are HTML without this. It adds the chosen theme, and a search that answers as one types. */
import '../state/theme.ts'
import './docs.css'

// On a phone the menu is a line that scrolls, beside a long one it is on any screen.
document
  .querySelector('nav [aria-current="page"]')
  ?.scrollIntoView({ block: 'nearest', inline: 'center' })

const field = document.querySelector<HTMLInputElement>('input[type=search]')
const content = document.getElementById('content')
/** A search is for the newest text alone. */
let newest = 0

field?.addEventListener('input', () => void showFound(field.value))

document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  field?.focus()
})

async function showFound(text: string): Promise<void> {
  newest += 1
  const own = newest
  const address = `docs?${new URLSearchParams({ q: text })}`
  const answer = await fetch(address).catch(() => undefined)
  if (!answer?.ok) return
  const found = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const results = found.getElementById('content')
  if (own !== newest || !results || !content) return
  content.replaceChildren(...results.childNodes)
  document.title = found.title
  history.replaceState(undefined, '', address)
}
