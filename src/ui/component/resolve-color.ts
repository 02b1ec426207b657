/** A canvas knows neither variables of CSS nor `light-dark()`: the browser tells what a color comes to at a place. */
export function resolveColor(color: string, place: HTMLElement): string {
  const probe = document.createElement('span')
  probe.style.color = color
  place.append(probe)
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}
