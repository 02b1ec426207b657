/** Saves a text of this page as a file. */
export function SaveFile({
  label,
  name,
  text,
}: {
  readonly label: string
  /** Of the file. */
  readonly name: string
  readonly text: () => string
}) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([text()], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = name
    link.click()
    // The browser has taken hold of it by the next turn.
    setTimeout(() => URL.revokeObjectURL(url))
  }
  return (
    <button type="button" onClick={save}>
      {label}
    </button>
  )
}
